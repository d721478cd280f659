#!/bin/sh
# survey-kit 0.2.1 computes a weighted mean and variance of four numbers, then of the same four and one person who left
# the question blank.
# Expected: the blank changes neither; the mean leaves it out.
# Seen: the mean is the same, but the variance is divided by the weights of all five, the blank's too: 4.59 becomes 1.43.
# It matters wherever people with a large weight decline: standard deviations and effect sizes shrink, means do not.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check "survey-kit==0.2.1" "polars==2.1.0" "numpy==2.2.6"
cat > seen.py <<'PROGRAM'
from importlib.metadata import version

import polars as pl
from survey_kit.statistics.basic_calculations import calculate_by

four = pl.DataFrame({"drinks": [1.0, 0.0, 1.0, 5.0], "weight": [1.0, 2.0, 1.0, 1.0]})
blank = pl.concat([four, pl.DataFrame({"drinks": [None], "weight": [10.0]}, schema=four.schema)])


def found(people: pl.DataFrame) -> tuple[float, float]:
    row = calculate_by(people, {"drinks": ["mean", "var"]}, weight="weight").to_dicts()[0]
    return round(row["drinks_mean"], 4), round(row["drinks_var"], 4)


print("survey-kit", version("survey-kit"))
print("four answers, mean and variance:          ", found(four))
print("the same and one blank, mean and variance:", found(blank))
assert found(four) == (1.4, 4.5867)
assert found(blank) == (1.4, 1.4333)
print("The blank leaves the mean alone and takes two thirds of the variance.")
PROGRAM
env/bin/python seen.py
