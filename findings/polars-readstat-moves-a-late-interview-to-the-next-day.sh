#!/bin/sh
# Expected of a column of times with a time zone written to .dta and .sav, which know none: the clock of the interview.
# Seen: the clock of UTC is written and the zone is lost, so that an interview at 23:30 in New York is dated the next day.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check polars-readstat==0.25.0 polars==2.1.0 pyreadstat==1.3.7 pandas==2.3.3 numpy==2.2.6 tzdata==2025.2
env/bin/python -W ignore - <<'END'
from datetime import datetime
from importlib.metadata import version

import polars
import polars_readstat
import pyreadstat

clock = polars.Series("began", [datetime(2026, 1, 1, 23, 30)]).dt.replace_time_zone("America/New_York")
seen = {}
for ending, read in (("dta", pyreadstat.read_dta), ("sav", pyreadstat.read_sav)):
    polars_readstat.write_readstat(polars.DataFrame({"began": clock}), f"interviews.{ending}")
    seen[ending] = str(read(f"interviews.{ending}")[0]["began"].iloc[0])
print("polars-readstat", version("polars-readstat"), "pyreadstat", version("pyreadstat"))
print(clock[0], seen)
raise SystemExit(seen != {"dta": "2026-01-02 04:30:00", "sav": "2026-01-02 04:30:00"})
END
