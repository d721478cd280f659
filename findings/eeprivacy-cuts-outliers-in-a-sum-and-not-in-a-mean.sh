#!/bin/sh
# Expected of PrivateClampedMean with bounds 0 and 100: an answer above 100 counts as 100, as in PrivateClampedSum, so that one
# person moves the mean of a hundred people by 1 at most.
# Seen: the answers are not cut, only the result. One typing error, 10000 hours in the place of 10, makes the mean 100 in the place
# of about 40.6.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check eeprivacy==0.0.5 numpy==1.26.4 scipy==1.13.1
env/bin/python - <<'END'
from importlib.metadata import version

import numpy
from eeprivacy.operations import PrivateClampedMean, PrivateClampedSum

hours = [40] * 99 + [10000]
bounds = {"lower_bound": 0, "upper_bound": 100}
numpy.random.seed(1)
by_sum = [PrivateClampedSum(**bounds).execute(values=hours, epsilon=100) / len(hours) for _ in range(200)]
means = [PrivateClampedMean(**bounds).execute(values=hours, epsilon=100) for _ in range(200)]
print("eeprivacy", version("eeprivacy"))
print(f"sum of 100 people, divided by 100: {min(by_sum):.2f} to {max(by_sum):.2f}")
print(f"mean of the same people: {min(means):.2f} to {max(means):.2f}")
raise SystemExit(bool(not 40 < min(by_sum) <= max(by_sum) < 41 or {*means} != {100}))
END
