#!/bin/sh
# Expected of a reader of SPSS files that gives dates as dates: a month or quarter of interview, in the formats MOYR8, QYR8 and
# WKYR10, is a date like one in DATE11, since all hold the same thing.
# Seen: they are numbers, seconds since 14 October 1582, and the quarters of a study are 13986604800 and 13994380800.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pyreadstat==1.3.7 pandas==2.3.3 numpy==2.0.2
env/bin/python - <<'END'
from importlib.metadata import version

import pandas
import pyreadstat

formats = {"day": "DATE11", "month": "MOYR8", "quarter": "QYR8", "week": "WKYR10"}
seconds = [13986604800.0, 13994380800.0]
frame = pandas.DataFrame({name: seconds for name in formats})
pyreadstat.write_sav(frame, "interviews.sav", variable_format=formats)
found, meta = pyreadstat.read_sav("interviews.sav")
print("pyreadstat", version("pyreadstat"))
for name in formats:
    print(meta.original_variable_types[name], [str(cell) for cell in found[name]])
days = [str(day) for day in found["day"]] == ["2026-01-01", "2026-04-01"]
raise SystemExit(bool(not days or any(list(found[name]) != seconds for name in formats if name != "day")))
END
