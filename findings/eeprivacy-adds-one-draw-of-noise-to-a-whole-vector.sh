#!/bin/sh
# Expected of the private means of several questions by the Laplace mechanism: each has a draw of noise of its own.
# Seen: all have the same one. What is released tells every difference between two means exactly, at any epsilon: at epsilon .01,
# that 70 points more have cheated than have stolen is the very figure of the answers.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check eeprivacy==0.0.5 numpy==1.26.4 scipy==1.13.1
env/bin/python - <<'END'
from importlib.metadata import version

import numpy
from eeprivacy.operations import PrivateVectorClampedMeanLaplace

answers = [[1, 0, 1]] * 7 + [[1, 1, 0]] + [[0, 0, 1]] * 2  # cheated, stolen, lied
mean = PrivateVectorClampedMeanLaplace(lower_bound=0, upper_bound=1, k=3, N=len(answers))
released = [mean.execute(vectors=answers, epsilon=0.01, delta=0) for _ in range(5)]
print("eeprivacy", version("eeprivacy"))
for means in released:
    print("released", means.round(1), "differences of the first to the others", (means[0] - means).round(6))
true = numpy.mean(answers, axis=0)
same = all(numpy.allclose(means - true, means[0] - true[0]) for means in released)
raise SystemExit(bool(not same or numpy.ptp([means[0] for means in released]) < 1))
END
