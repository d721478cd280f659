#!/bin/sh
# Expected of pdtab's tabi, which replicates Stata's tabi for counts that are typed in: Goodman and Kruskal's gamma with its asymptotic
# standard error, and totals added to the table.
# Seen: for a table of 128 people gamma's standard error is .01 in the place of .16, so that chance looks certain. And the last row and
# column are called Total, with no totals added, unless the table has two rows and two columns: the 22 who said "no" are all women.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check --no-deps pdtab==0.1.1
env/bin/pip install --quiet --disable-pip-version-check pandas==2.3.3 numpy==2.2.6 scipy==1.15.3 matplotlib==3.10.7 seaborn==0.13.2 tabulate==0.9.0
env/bin/python - <<'END'
from importlib.metadata import version

import numpy
import pdtab

counts = numpy.array([[30, 18, 38], [13, 7, 22]], dtype=float)  # men and women who said yes, perhaps, no
result = pdtab.tabi(counts, gamma=True)
rows, columns = counts.shape
alike, opposed = numpy.zeros_like(counts), numpy.zeros_like(counts)
for row in range(rows):
    for column in range(columns):
        alike[row, column] = counts[:row, :column].sum() + counts[row + 1 :, column + 1 :].sum()
        opposed[row, column] = counts[:row, column + 1 :].sum() + counts[row + 1 :, :column].sum()
p, q = (counts * alike).sum(), (counts * opposed).sum()
error = round(float(4 * numpy.sqrt((counts * (q * alike - p * opposed) ** 2).sum()) / (p + q) ** 2), 3)
printed = round(float(result.statistics["gamma"]["ase"]), 3)
print("pdtab", version("pdtab"))
print(result.table)
print("standard error of gamma:", printed, "by Goodman and Kruskal's formula:", error)
names = [*result.table.index, *result.table.columns]
raise SystemExit((printed, error) != (0.01, 0.16) or names != ["row1", "Total", "col1", "col2", "Total"])
END
