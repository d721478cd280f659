#!/bin/sh
# Expected of pyegen's pc(), which its documentation calls the equal of Stata's: each value as a percentage of the total, as the
# manual of Stata has it, so that the three incomes 10, 30 and 60 are 10, 30 and 60 percent.
# Seen: percentile ranks, 33.3, 66.7 and 100. They do not add up to 100, and do not change when the richest has ten times as much.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pyegen==0.2.4 pandas==2.3.3 numpy==2.2.6
env/bin/python - <<'END'
from importlib.metadata import version

import pandas
import pyegen

seen = {last: pyegen.pc(pandas.Series([10, 30, last])).round(1).tolist() for last in (60, 600)}
print("pyegen", version("pyegen"))
for last, shares in seen.items():
    print("incomes", [10, 30, last], "-> percentages", shares)
claimed = [line.strip() for line in pyegen.pc.__doc__.splitlines() if "Stata" in line]
print("its documentation:", *claimed)
raise SystemExit(seen != {last: [33.3, 66.7, 100.0] for last in (60, 600)} or len(claimed) != 1)
END
