#!/bin/sh
# Expected of pandas' dates written to .dta with variable_format "%td", Stata's format of days: the days, or an error.
# Seen: milliseconds are written and shown as days. With SPSS's format of days they are right in .sav. pyreadstat
# cannot open its own .dta file again, and R's haven reads 1960-01-02 as a day of the year 238515.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pyreadstat==1.3.7 pandas==2.3.3 numpy==2.2.6
env/bin/python -W ignore - <<'END'
from importlib.metadata import version

import pandas
import pyreadstat

frame = pandas.DataFrame({"born": pandas.to_datetime(["1960-01-02", "2026-11-28"])})
pyreadstat.write_sav(frame, "born.sav", variable_format={"born": "DATE11"})
pyreadstat.write_dta(frame, "born.dta", variable_format={"born": "%td"})
print("pyreadstat", version("pyreadstat"), "pandas", version("pandas"))
print("born.sav:", [*map(str, pyreadstat.read_sav("born.sav")[0]["born"])])
days = pyreadstat.read_dta("born.dta", disable_datetime_conversion=True)[0]["born"].tolist()
print("born.dta: days after 1960-01-01:", days)
try:
    pyreadstat.read_dta("born.dta")
    again = "read"
except OverflowError as error:
    again = f"OverflowError: {error}"
print("born.dta, read again:", again)
raise SystemExit(days[0] != 86_400_000 or again == "read")
END
