#!/bin/sh
# Expected of raking to shares of coded answers, 1 and 2, where one person left the question blank: the others are weighted, or an
# error names the blank.
# Seen: a blank makes pandas hold codes as 1.0 and 2.0, which are compared as texts with the targets "1" and "2". No target is met,
# all weights stay 1, and there is neither an error nor an alert. Without the blank the same call weights to the targets.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check weightpipe==0.1.3 pandas==2.3.3 numpy==2.0.2 scipy==1.13.1 scikit-learn==1.7.2
env/bin/python - <<'END'
from importlib.metadata import version

import pandas
from weightpipe import Design, Recipe

targets, found = {"sex": {1: 50, 2: 50}}, {}
for kind, last in (("complete", 2), ("one blank", None)):
    people = pandas.DataFrame({"base": [1.0] * 100, "sex": [1] * 70 + [2] * 29 + [last]})
    result = Recipe.from_design(Design(people, weight="base")).step_calibrate(method="raking", margins=targets).fit()
    found[kind] = sorted(set(result.weights.round(3))), result.alerts
print("weightpipe", version("weightpipe"))
for kind, (weights, alerts) in found.items():
    print(f"{kind}: different weights {weights}, alerts {alerts}")
raise SystemExit(bool(found != {"complete": ([0.714, 1.667], ()), "one blank": ([1.0], ())}))
END
