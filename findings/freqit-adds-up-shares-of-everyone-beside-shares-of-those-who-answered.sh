#!/bin/sh
# Expected of a table of frequencies: the last column is the percentages of the one before it, added up.
# Seen: percentages are those of the people who answered, and the cumulated ones those of everybody. Of ten people four say never,
# four say often and two leave it blank: never is 50 % of the answers, and its line adds up to 60 %, since the blanks come first.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check freqit==1.0 pandas==2.3.3 numpy==2.2.6
env/bin/python - <<'END'
from importlib.metadata import version

import pandas
from freqit.oneway import freqtable

NEVER, OFTEN = 1, 2
table = freqtable(pandas.Series([NEVER] * 4 + [OFTEN] * 4 + [None] * 2))
print("freqit", version("freqit"))
print(table.to_string(index=False))
percentages = table["percentage"].fillna(0)
print("its percentages added up:", percentages.cumsum().tolist(), "; printed:", table["cum_percentage"].tolist())
raise SystemExit((percentages.tolist(), table["cum_percentage"].tolist()) != ([0, 50, 50], [20, 60, 100]))
END
