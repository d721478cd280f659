#!/bin/sh
# weightfactors 0.0.11 rakes a hundred people to shares of schooling: low 20 %, middle 50 %, high 30 %. The column is
# text in one run, and an ordered category of pandas (low < middle < high) in the other.
# Expected: the same weights; the weighted shares are the targets.
# Seen: with ordered categories each one gets the target of another, since one list is in the order of the categories and
# the other in that of the alphabet: low 30, middle 20, high 50 %. The raker says that it succeeded.
# It matters wherever schooling, age or income is kept as what it is, an ordered category.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check "weightfactors==0.0.11" "pandas==2.3.3" "numpy==2.2.6"
cat > seen.py <<'PROGRAM'
import warnings
from importlib.metadata import version

import pandas as pd
from weightfactors import GeneralizedRaker

warnings.simplefilter("error", UserWarning)
targets = {"school": {"low": 0.2, "middle": 0.5, "high": 0.3}}
answers = ["low"] * 30 + ["middle"] * 50 + ["high"] * 20


def shares(column: pd.Series) -> dict[str, float]:
    people = pd.DataFrame({"school": column})
    raker = GeneralizedRaker(targets)
    people["weight"] = raker.rake(people.copy())
    assert raker.success
    sums = people.groupby("school", observed=True)["weight"].sum()
    return {name: round(float(sums[name] / sums.sum()), 3) for name in ("low", "middle", "high")}


text = shares(pd.Series(answers))
ordered = shares(pd.Series(pd.Categorical(answers, ["low", "middle", "high"], ordered=True)))
print("weightfactors", version("weightfactors"))
print("targets:           ", targets["school"])
print("as text:           ", text)
print("ordered categories:", ordered)
assert text == targets["school"]
assert ordered == {"low": 0.3, "middle": 0.2, "high": 0.5}
print("Ordered categories get the targets of others, and the raker reports success.")
PROGRAM
env/bin/python seen.py
