#!/bin/sh
# Expected of yxf, which turns an XLSForm into YAML and back: the form that went in comes out.
# Seen: a cell with the number 0 is taken for an empty one. The default 0 of a number is gone, so that who leaves it has a blank and no 0,
# and so are the label and the code of an option 0. 1 and 2 stay. pyxform makes a form of both files.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check yxf==1.1.0 openpyxl==3.1.5 strictyaml==1.7.3 pyxform==4.5.0
env/bin/python - <<'END'
import openpyxl

book = openpyxl.Workbook()
survey, choices = book.active, book.create_sheet("choices")
survey.title = "survey"
for row in (
    ("type", "name", "label", "default"),
    ("integer", "cheated", "How often did you cheat?", 0),
    ("integer", "exams", "How many exams did you take?", 1),
    ("select_one times", "friends", "How many of your friends did?", None),
):
    survey.append(row)
for row in (("list_name", "name", "label", "code"), ("times", "none", 0, 0), ("times", "one", 1, 1), ("times", "more", "2 or more", 2)):
    choices.append(row)
book.save("form.xlsx")
END
env/bin/python -m yxf form.xlsx > said 2>&1
env/bin/python -m yxf -o back.xlsx form.yaml >> said 2>&1
for name in form back; do env/bin/xls2xform --skip_validate "$name.xlsx" "$name.xml" >> said 2>&1; done
env/bin/python - <<'END'
import re
from importlib.metadata import version
from pathlib import Path

import openpyxl

print("yxf", version("yxf"), "pyxform", version("pyxform"))
seen = []
for name in ("form", "back"):
    book = openpyxl.load_workbook(f"{name}.xlsx")
    rows = [list(row) for row in book["survey"].iter_rows(values_only=True) if any(row)]
    at = rows[0].index("default")
    defaults = {row[rows[0].index("name")]: row[at] for row in rows[1:] if row[rows[0].index("name")]}
    options = [row for row in book["choices"].iter_rows(values_only=True) if any(row)][1:]
    kept = re.findall(r"<(cheated|exams)>(\d)</", Path(f"{name}.xml").read_text())
    print(name, "defaults", defaults, "options", [row[-3:] for row in options], "in the XForm", kept)
    seen.append((str(defaults["cheated"]), str(defaults["exams"]), str(options[0][2]), str(options[1][2]), kept))
wanted = [
    ("0", "1", "0", "1", [("cheated", "0"), ("exams", "1")]),
    ("None", "1", "None", "1", [("exams", "1")]),
]
raise SystemExit(seen != wanted)
END
