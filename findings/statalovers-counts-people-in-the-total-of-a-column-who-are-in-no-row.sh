#!/bin/sh
# Expected of a table of two answers in the manner of Stata: people who left one of both blank are left out, and each total is the
# sum of its row or column.
# Seen: totals of columns also count those who left the row's answer blank. Two columns of 2 and 4 have the totals 5 and 7, and
# the 6 people of the table are 12 in the corner; totals of rows are right.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check StataLovers==1.3 pandas==1.5.3 numpy==1.26.4
env/bin/python - <<'END'
from contextlib import redirect_stdout
from importlib.metadata import version
from io import StringIO

import pandas
from StataLovers import tab

people = pandas.DataFrame({"cheated": [1, 2, 1, 1, 2, 2] + [None] * 6, "arm": [1, 1, 2, 2, 2, 2] + [1, 1, 1, 2, 2, 2]})
with redirect_stdout(StringIO()) as printed:
    tab(people["cheated"], people["arm"])
print("StataLovers", version("StataLovers"))
print(printed.getvalue())
rows = [line.replace("|", " ").split() for line in printed.getvalue().splitlines() if line and "-+-" not in line]
cells = [[int(cell) for cell in row[1:]] for row in rows[2:]]
print("sums of the columns:", [sum(column) for column in zip(*cells[:-1])], "printed:", cells[-1])
raise SystemExit(cells != [[1, 2, 3], [1, 2, 3], [5, 7, 12]])
END
