#!/bin/sh
# Expected of a weighted frequency table: shares by the weights, 2.4 of 8 people who say yes are 30 %.
# Seen: people are rounded to whole ones first, and shares are those of the rounded people: 2 of 8 are 25 %. Of weights that add
# up to 1 nothing is left. Cells of its weighted cross tables are rounded likewise, and no longer add up to their margins.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check cheatstat==4.1.2 pandas==2.3.3 numpy==2.2.6 scipy==1.17.1
env/bin/python -W ignore - <<'END'
from importlib.metadata import version

import cheatstat
import pandas

smokes = ["yes"] * 3 + ["no"] * 5
table = pandas.DataFrame({"smokes": smokes, "weight": [0.8] * 3 + [1.12] * 5})
right = float(table.loc[table["smokes"] == "yes", "weight"].sum() / table["weight"].sum())
found = cheatstat.fre(table, "smokes", weight="weight")
shown = dict(zip(found["Ausprägung"].astype(str), found["gültigeP"].astype(str)))
print("cheatstat", version("cheatstat"))
print(found.to_string())
print("share of yes by the weights:", round(100 * right, 1), "shown:", shown["yes"])
raise SystemExit(round(right, 3) != 0.3 or float(shown["yes"]) != 25.0)
END
