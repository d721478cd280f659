#!/bin/sh
# Expected of rake_weights of siamang, "Categories absent from the targets keep their current share": of 100 people, 20 who gave no sex keep
# their 20 percent, and men and women share the other 80 as the target says.
# Seen: they are as good as removed. Each pass lets the named categories grow to the sum of all weights, so that 20 percent become 17 after
# one pass, 1.8 after the 50 that are made if none is said, and .2 after 500. The age of the other margin is as its target says throughout.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check siamang==0.6.5 pandas==2.3.3 numpy==2.4.6 scipy==1.17.1
env/bin/python - <<'END'
from importlib.metadata import version

import pandas
from siamang.data.weights import rake_weights

people = pandas.DataFrame({"sex": ["man"] * 40 + ["woman"] * 40 + ["not said"] * 20, "age": ["young", "old"] * 50})
targets = {"sex": {"man": 0.5, "woman": 0.5}, "age": {"young": 0.4, "old": 0.6}}
print("siamang", version("siamang"), "pandas", version("pandas"))
print("people:", people["sex"].value_counts(normalize=True).to_dict())
seen = []
for passes in (None, 1, 500):
    weights = rake_weights(people, targets) if passes is None else rake_weights(people, targets, max_iter=passes)
    shares = [(weights.groupby(people[name]).sum() / weights.sum()).round(3).to_dict() for name in ("sex", "age")]
    print("passes:", passes or "50, if none is said", *shares)
    seen.append((shares[0]["not said"], shares[1]["old"]))
raise SystemExit(seen != [(0.018, 0.6), (0.167, 0.6), (0.002, 0.6)])
END
