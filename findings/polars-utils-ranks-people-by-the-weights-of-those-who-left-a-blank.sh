#!/bin/sh
# Expected of df_quantile(people, ["income"], w="weight", ties="average"): the same ranks as of a file without the people who left income blank.
# Seen: their places are taken first, so that as many of the lowest incomes have no rank, and every other person has the weights of
# those some places below: the highest income stands in the middle. Without weights this is not so.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check polars-utils==0.1.12 polars==1.35.2
env/bin/python - <<'END'
from importlib.metadata import version

import polars as pl
from polars_utils.quantile import df_quantile

people = pl.DataFrame({"income": [10, None, 20, None, 30, 40], "weight": [1.0] * 6})


def ranks(table):
    ranked = df_quantile(table, ["income"], w="weight").filter(pl.col("income").is_not_null())
    return dict(ranked.select("income", "income_rank").iter_rows())


with_blanks, without = ranks(people), ranks(people.drop_nulls("income"))
print("polars-utils", version("polars-utils"), "polars", version("polars"))
print("share of people below, two blanks in the file:", with_blanks)
print("the same without their lines:                 ", without)
wanted = [None, None, 0.125, 0.375], [0.125, 0.375, 0.625, 0.875]
raise SystemExit((list(with_blanks.values()), list(without.values())) != wanted)
END
