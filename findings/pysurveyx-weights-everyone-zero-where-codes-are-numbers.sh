#!/bin/sh
# Expected of raking to known shares of codes 1 and 2: the weights that it gives to the same people with names for codes.
# Seen: every weight is 0 and the result says that it converged, since targets are looked up by the text of a code.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pysurveyx==0.21.0 pandas==2.3.3 numpy==2.2.6 scipy==1.15.3
env/bin/python -W ignore - <<'END'
from importlib.metadata import version

import pandas
from pysurveyx.design import SurveyDesign
from pysurveyx.poststrat import calibrate

table = pandas.DataFrame({"name": list("mmmmmmf") + ["f"], "code": [1] * 6 + [2] * 2, "w": 1.0})
seen = {}
for column, shares in (("name", {"m": 0.5, "f": 0.5}), ("code", {1: 0.5, 2: 0.5})):
    result = calibrate(SurveyDesign(table, weight="w"), categorical_margins={column: shares})
    seen[column] = (bool(result.converged), [round(float(one), 3) for one in result.design.weights])
print("pysurveyx", version("pysurveyx"))
print(seen)
raise SystemExit(seen != {"name": (True, [0.667] * 6 + [2.0] * 2), "code": (True, [0.0] * 8)})
END
