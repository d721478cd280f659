#!/bin/sh
# Expected of a function that gives the median of a list: the list is left as it is.
# Seen: weightedstats sorts the list that it is given, and the list of weights stays in the old order. As its documentation does,
# take the plain median first and then the weighted figures: each answer has the weight of another person, and of five people the
# mean of 3.5 becomes 2, the median of 4.5 becomes 1. No error, no warning.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check weightedstats==0.4.1
env/bin/python - <<'END'
from importlib.metadata import version

import weightedstats

times, weights = [5, 1, 1, 2, 4], [4, 1, 1, 1, 1]


def weighted():
    return weightedstats.weighted_mean(times, weights), weightedstats.weighted_median(times, weights)


before = weighted()
median = weightedstats.median(times)
after = weighted()
print("weightedstats", version("weightedstats"))
print("weighted mean and median before:", before)
print("after asking for the plain median,", median, ":", after, "of", times, "with weights", weights)
raise SystemExit((before, median, after, times) != ((3.5, 4.5), 2, (2.0, 1), [1, 1, 2, 4, 5]))
END
