#!/bin/sh
# Expected of a small-area model: another name of the column of figures, and the same seed, give the same criteria. And a corrected AIC
# is above the plain one, since the correction is for few areas.
# Seen: drawn figures are written into a column "y", whatever the formula names. If it names "income", the model is fitted 200 times to
# the figures of the survey again, and the criteria made of that say that nothing varies: AICc is 103.0 in the place of 109.6, AIC 107.9.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check saepy==0.2.0 numpy==2.2.6 pandas==2.3.3 scipy==1.15.3 statsmodels==0.14.6 patsy==1.0.1
env/bin/python - <<'END'
from importlib.metadata import version

import numpy
import pandas
from saePy.eblupFH import eblupFH

AREAS = 30
draw = numpy.random.default_rng(4)
schooling, variance = draw.normal(size=AREAS), draw.uniform(0.3, 1, AREAS)
income = 1 + 2 * schooling + draw.normal(size=AREAS) + draw.normal(size=AREAS) * numpy.sqrt(variance)
found = {}
for name in ("y", "income"):
    table = pandas.DataFrame({name: income, "schooling": schooling, "variance": variance})
    numpy.random.seed(7)
    fit = eblupFH(f"{name} ~ schooling", "variance", B=200, data=table)["fit"]
    found[name] = {criterion: round(float(fit["goodness"][criterion]), 1) for criterion in ("AIC", "AICc", "KICc")}
print("saepy", version("saepy"), found)
named, other = found["y"], found["income"]
raise SystemExit(named["AIC"] != other["AIC"] or named["AICc"] < named["AIC"] or other["AICc"] > other["AIC"] - 3)
END
