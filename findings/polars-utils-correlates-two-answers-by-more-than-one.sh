#!/bin/sh
# Expected of cor(x, y): of people who left a question blank, either no part in the figure, as in polars' own corr, or a part in all
# of it; a correlation between -1 and 1 either way.
# Seen: the covariance is that of people who answered both, each variance that of all who answered the one question. Where the
# second question is asked only of those whose first answer is low or high, the correlation is 1.73.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check polars-utils==0.1.12 polars==1.35.2
env/bin/python - <<'END'
from importlib.metadata import version

import polars as pl
from polars_utils.stats import cor

trust = [0, 10, 0, 10, 5, 5, 5, 5, 5, 5, 5, 5]
change = [0, 10, 0, 10] + [None] * 8
people = pl.DataFrame({"trust": trust, "change": change, "weight": [1.0] * 12})
figures = people.select(
    cor(pl.col("trust"), "change").alias("plain"),
    cor(pl.col("trust"), "change", w="weight").alias("weighted"),
    pl.corr("trust", "change").alias("polars"),
).row(0, named=True)
print("polars-utils", version("polars-utils"), "polars", version("polars"))
print("correlation:", {name: round(value, 3) for name, value in figures.items()})
raise SystemExit([round(value, 2) for value in figures.values()] != [1.73, 1.73, 1.0])
END
