#!/bin/sh
# Expected of pandas-tabulate's tabulate(cumulative=True), "equivalent to Stata's tabulate" and by its documentation sorted by the values:
# beside the answer 3 of a scale of 1 to 5 stands the share of those who answered 1, 2 or 3.
# Seen: rows are in the order of how often an answer was given, and cumulated in it: 75 % beside 3, where 30 % answered 1, 2 or 3.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pandas-tabulate==0.1.0 pandas==2.3.3 numpy==2.2.6 scipy==1.15.3
env/bin/python - <<'END'
from importlib.metadata import version

import pandas
from pandas_tabulate import tabulate

answers = pandas.Series([1] * 5 + [2] * 10 + [3] * 15 + [4] * 60 + [5] * 10)
table = tabulate(answers, percent=True, cumulative=True)
print("pandas-tabulate", version("pandas-tabulate"))
print(table)
cumulated = table.data["cumulative_pct"]
right = {value: round(float((answers <= value).mean()) * 100, 2) for value in (3, 4)}
print("beside 3 and 4:", cumulated[3], cumulated[4], "- answered at most 3 and 4:", *right.values())
raise SystemExit(cumulated[4] != 60.0 or cumulated[3] != 75.0 or right != {3: 30.0, 4: 90.0})
END
