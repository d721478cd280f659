#!/bin/sh
# Expected of an adjustment for nonresponse whose column of respondents says yes and no: people who say no get weight 0 and the
# others theirs, or an error, as the column of 1 and 2 gives one ("Expected logical or 0/1 column").
# Seen: words are no respondents at all, and then nothing is adjusted: everybody keeps the weight 1, nonrespondents included.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check weightpipe==0.1.3 pandas==2.3.3 numpy==2.2.6
env/bin/python -W ignore - <<'END'
from importlib.metadata import version

import pandas
from weightpipe import WeightPipe


def weights(answered):
    people = pandas.DataFrame({"weight": [1.0] * 4, "age": ["young"] * 4, "answered": answered})
    adjusted = WeightPipe(people, weight="weight").nonresponse(
        respondent="answered", method="weighting_class", by=["age"]
    )
    return adjusted.weights.tolist()


words, numbers = weights(["yes", "no", "yes", "no"]), weights([1, 0, 1, 0])
try:
    refused = weights([1, 2, 1, 2])
except ValueError as error:
    refused = str(error)
print("weightpipe", version("weightpipe"))
print("1 and 0:", numbers, "yes and no:", words, "1 and 2:", refused)
raise SystemExit(numbers != [2, 0, 2, 0] or words != [1, 1, 1, 1] or "Expected" not in refused)
END
