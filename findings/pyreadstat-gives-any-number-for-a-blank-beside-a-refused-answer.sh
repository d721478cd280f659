#!/bin/sh
# Expected of pyreadstat's user_missing=True, which keeps apart why an answer is missing in a Stata file: .a for refused is "a", and the
# blank . beside it is missing.
# Seen: in a column of whole numbers each blank after the first refused answer is a number, which no one gave: 0, or one of up to 19 digits,
# without a warning. Without user_missing, and as a frame of polars, the blanks are missing.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pyreadstat==1.3.7 pandas==3.1.1 numpy==2.2.6 polars==2.1.0 pyarrow==26.0.1
env/bin/python - <<'END'
from importlib.metadata import version

import pandas
import pyreadstat

hours = [40, "a"] + [20, None, 30] * 50
people = pandas.DataFrame({"hours": pandas.Series(hours, dtype=object)})
pyreadstat.write_dta(people, "people.dta", missing_user_values={"hours": ["a"]})
print("pyreadstat", version("pyreadstat"), "pandas", version("pandas"))
read = pyreadstat.read_dta("people.dta", user_missing=True)[0]["hours"].tolist()
plain = pyreadstat.read_dta("people.dta")[0]["hours"]
other = pyreadstat.read_dta("people.dta", user_missing=True, output_format="polars")[0]["hours"].to_list()
blanks = [answer for answer, given in zip(read, hours) if given is None]
print("blank of", len(hours), "people:", hours.count(None), "plainly:", int(plain.isna().sum()) - 1, "by polars:", other.count(None))
print("with user_missing=True:", sum(answer is None or answer != answer for answer in blanks), "and different numbers:", len(set(blanks)))
raise SystemExit(not all(isinstance(answer, int) for answer in blanks) or other.count(None) != 50 or int(plain.isna().sum()) != 51)
END
