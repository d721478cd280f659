#!/bin/sh
# Expected of an evaluator of forms of ODK, which judges "a date rule against the day the work was done" and reports a rule that it
# cannot evaluate as not evaluated: a person born in 1990 has a birthday that is not after today, and is 36.
# Seen: a date is compared as a number that it is not, without a word: the constraint ". <= today()" is broken by every person, born in
# 1990 or in 2090, the question about children that depends on it is shown to nobody, the age that a device stored is called wrong, since
# it would be NaN, and the check before publishing finds nothing.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check rxeval==0.1.1 pyxform==4.5.0 openpyxl==3.1.5
env/bin/python - <<'END'
import datetime
from importlib.metadata import version

import openpyxl
import rxeval
from pyxform.xls2xform import convert

TODAY = datetime.date(2026, 11, 30)
book = openpyxl.Workbook()
sheet = book.active
sheet.title = "survey"
for row in (
    ("type", "name", "label", "constraint", "relevant", "calculation"),
    ("date", "born", "When were you born?", ". <= today()", None, None),
    ("integer", "exams", "How many exams did you take?", ". <= 90", None, None),
    ("integer", "children", "How many children have you?", None, "${born} <= today()", None),
    ("calculate", "age", None, None, None, "int((today() - ${born}) div 365.25)"),
):
    sheet.append(row)
book.save("form.xlsx")
form = convert("form.xlsx").xform
seen = []
for born in (datetime.date(1990, 5, 1), datetime.date(2090, 5, 1)):
    age = int((TODAY - born).days / 365.25)
    answers = f"<born>{born}</born><exams>12</exams><children/><age>{age}</age><meta><instanceID>1</instanceID></meta>"
    found = rxeval.submission_findings(form, f'<data id="form">{answers}</data>', today=str(TODAY))
    session = rxeval.Session(form, today=str(TODAY), now=f"{TODAY}T09:00:00Z")
    session.set("/data/born", str(born))
    out = session.recompute()
    print("born", born, "is not after today:", born <= TODAY, "; age", age, "; found:", [each["says"] for each in found])
    print("asked about children:", out["relevant"]["/data/children"], "; age calculated:", out["calculated"].get("/data/age"))
    refused = sorted(each["kind"] for each in found)
    seen.append((refused, out["relevant"]["/data/children"], out["calculated"].get("/data/age")))
print("rxeval", version("rxeval"), "the check before publishing:", rxeval.check_form(form))
raise SystemExit(seen != [(["calculation", "constraint"], False, "NaN")] * 2 or rxeval.check_form(form) != [])
END
