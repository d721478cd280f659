#!/bin/sh
# microdf-python 1.5.12 is pandas with survey weights: mean() of a column is weighted.
# Expected: groupby(...).agg("mean") and value_counts(normalize=True) of the same data are weighted, too.
# Seen: they are not, and say nothing.
# It matters where a table by group is made beside a weighted total: both stand in one report.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check "microdf-python==1.5.12" "pandas==2.3.3" "numpy==2.2.6"
cat > seen.py <<'PROGRAM'
from importlib.metadata import version

import microdf

people = microdf.MicroDataFrame({"yes": [1.0, 0.0, 0.0, 1.0], "group": list("aabb")}, weights=[9.0, 1.0, 1.0, 1.0])
weighted = float(people["yes"].mean())
by_group = people.groupby("group").agg({"yes": "mean"})["yes"].to_dict()
shares = people["group"].value_counts(normalize=True).to_dict()
print("microdf-python", version("microdf-python"))
print("mean of all:", round(weighted, 3), " groupby().agg():", by_group, " value_counts():", shares)
assert abs(weighted - 10 / 12) < 1e-9
assert by_group == {"a": 0.5, "b": 0.5}
assert shares == {"a": 0.5, "b": 0.5}
print("Weighted, group a has .9 yes and 10 of 12 people; agg and value_counts give .5 and .5.")
PROGRAM
env/bin/python seen.py
