#!/bin/sh
# Expected of the one-parameter model of answers that are made by a Rasch model: it fits, its difficulties are the true ones, and
# the two-parameter model, which has a slope for each item, is not preferred.
# Seen: slope and the standard deviation of people are both fixed at 1. Where people differ by 2, difficulties from -3 to 3 become
# -2.2 to 2.4, RMSEA is .11, and AIC prefers the 2PL by hundreds, whose slopes are all about 2: alike.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check mirt==1.2.0 numpy==2.2.6
env/bin/python - <<'END'
from importlib.metadata import version

import mirt
import numpy

rng = numpy.random.default_rng(2)
people, difficulties = 2 * rng.normal(size=(3000, 1)), numpy.linspace(-3, 3, 8)
answers = (rng.random((3000, 8)) < 1 / (1 + numpy.exp(difficulties - people))).astype(int)
one, two = (mirt.fit_mirt(answers, model=name, compute_standard_errors=False) for name in ("1PL", "2PL"))
found, slopes = one.model.parameters["difficulty"], two.model.parameters["discrimination"]
error = mirt.compute_fit_indices(one, answers)["RMSEA"]
print("mirt", version("mirt"))
print("true difficulties", difficulties.round(2))
print("1PL              ", found.round(2), f"RMSEA {error:.3f}, AIC {one.aic:.0f}")
print("2PL, slopes      ", slopes.round(2), f"AIC {two.aic:.0f}")
shrunk = found[0] > -2.5 and found[-1] < 2.6 and error > 0.1
raise SystemExit(bool(not shrunk or one.aic - two.aic < 500 or slopes.min() < 1.7 or slopes.max() > 2.4))
END
