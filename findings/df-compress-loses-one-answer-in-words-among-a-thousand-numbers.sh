#!/bin/sh
# Expected of what is said to be akin to Stata's compress: columns take less room, and no value changes, as in Stata.
# Seen: a column of texts of which 99.9 % are numbers becomes numbers. The one who wrote "refused" among 2,000 is blank afterwards,
# and the codes of two schools, 017 and 17, are one. No warning, and it happens in place.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check df-compress==0.7.0 pandas==2.3.3 numpy==2.0.2 distributed==2025.9.1
env/bin/python - <<'END'
from contextlib import redirect_stdout
from importlib.metadata import version
from io import StringIO

import pandas
from df_compress import compress

people = pandas.DataFrame({"hours": ["40"] * 1999 + ["refused"], "school": ["017"] * 1000 + ["17"] * 1000})
before = {name: people[name].value_counts().to_dict() for name in people}
with redirect_stdout(StringIO()):
    compress(people)
after = {name: people[name].value_counts(dropna=False).to_dict() for name in people}
print("df-compress", version("df-compress"))
for name in before:
    print(name, before[name], "->", after[name])
blank = int(people["hours"].isna().sum())
raise SystemExit(len(before["school"]) != 2 or after["school"] != {17: 2000} or blank != 1)
END
