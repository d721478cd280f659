#!/bin/sh
# Expected of a reader of .sav: 25 hours of work in a week, stored in SPSS's format TIME, stay 25 hours.
# Seen: whole days are taken away. 25 hours are 1 hour and an hour too little is 23 hours, without a word.
# SPSS and PSPP show 25:00:00. Another reader, polars-readstat, gives a blank.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pyreadstat==1.3.7 polars-readstat==0.25.0 polars==2.1.0 pandas==2.3.3 numpy==2.2.6
env/bin/python - <<'END'
from importlib.metadata import version

import pandas
import polars_readstat
import pyreadstat

hours = [1, 25, -1]
table = pandas.DataFrame({"work": [3600.0 * each for each in hours]})
pyreadstat.write_sav(table, "people.sav", variable_format={"work": "TIME8"})
stored = pyreadstat.read_sav("people.sav", disable_datetime_conversion=True)[0]["work"].tolist()
read = [str(each) for each in pyreadstat.read_sav("people.sav")[0]["work"]]
other = [each and str(each) for each in polars_readstat.scan_readstat("people.sav").collect()["work"]]
print("hours of work:", hours, "stored in seconds:", stored)
print("pyreadstat", version("pyreadstat"), read)
print("polars-readstat", version("polars-readstat"), other)
raise SystemExit(
    stored != [3600, 90000, -3600]
    or read != ["01:00:00", "01:00:00", "23:00:00"]
    or other != ["01:00:00", None, None]
)
END
