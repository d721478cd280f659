#!/bin/sh
# Expected of a logistic regression with survey weights: limits do not change when all weights are multiplied by one number, since
# how many people were asked does not change.
# Seen: the weights are taken for numbers of people. With weights that add up to the population, here 100 for each of 200, the limits
# of an odds ratio .38 are .35 to .40 in the place of .20 to .71.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pyshs==0.4.3 statsmodels==0.15.0 pandas==2.3.3 numpy==2.0.2 scipy==1.15.3
env/bin/python -W ignore - <<'END'
import contextlib
import io
from importlib.metadata import version

import pandas
import pyshs

groups = [("man", "yes", 40), ("man", "no", 60), ("woman", "yes", 20), ("woman", "no", 80)]
people = pandas.DataFrame([(sex, answer) for sex, answer, n in groups for _ in range(n)], columns=["sex", "cheated"])
people["said_yes"] = (people["cheated"] == "yes").astype(int)
limits = {}
for weight in (1, 100):
    people["weight"] = float(weight)
    with contextlib.redirect_stdout(io.StringIO()):
        table = pyshs.regression_logistique(people, "said_yes", ["sex"], poids="weight")
    limits[weight] = table.loc[("sex", "woman"), "IC 95%"]
print("pyshs", version("pyshs"), "odds ratio and limits for 200 people, by the weight of each:", limits)
raise SystemExit(limits != {1: "0.38 [0.2-0.71]", 100: "0.38 [0.35-0.4]"})
END
