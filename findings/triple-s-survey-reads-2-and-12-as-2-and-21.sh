#!/bin/sh
# Expected of a reader of Triple-S, in which market research exchanges surveys: of a question with several answers in fields of two
# characters, " 212" is 2 and 12. Codes are right justified in their field, with leading spaces or zeros (Triple-S 2.0, spread).
# Seen: the spaces before the first code are taken away before the fields are, and those after it move by one: the last is another brand's
# where such a code exists, without an error. Of four people with brand 12 two have it left; "0212", with zeros, is read right.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check triple-s-survey==0.3.1 polars==2.1.0
env/bin/python - <<'END'
from importlib.metadata import version
from pathlib import Path

from triple_s import read_datamap

brands = "".join(f'<value code="{code}">brand {code}</value>' for code in range(1, 31))
Path("brands.sss").write_text(f"""<?xml version="1.0"?>
<sss version="2.0"><survey><title>Brands</title><record ident="A">
<variable ident="1" type="multiple"><name>used</name><label>Brands used</label><position start="1" finish="4"/>
<spread subfields="2" width="2"/><values>{brands}</values></variable>
</record></survey></sss>""")
fields = ["0212", " 212", "1213", " 112"]
Path("brands.asc").write_text("".join(f"{field}\n" for field in fields))
survey = read_datamap("brands.sss")
survey.load_data("brands.asc")
seen = survey.to_polars()["used"].to_list()
print("triple-s-survey", version("triple-s-survey"))
for field, codes in zip(fields, seen):
    print(repr(field), "is", [int(field[:2]), int(field[2:])], "and read as", list(codes))
print("brand 12:", sum(12 in codes for codes in seen), "of 4 people")
raise SystemExit([list(codes) for codes in seen] != [[2, 12], [2, 21], [12, 13], [2, 11]])
END
