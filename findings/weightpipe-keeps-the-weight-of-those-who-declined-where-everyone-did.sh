#!/bin/sh
# Expected of an adjustment for nonresponse: who declined has weight 0, and those who answered stand for them. In a cell where no
# one answered that is impossible, and an error or a warning says so.
# Seen: in such a cell all who declined keep their full weight, without an alert, while a cell with few answers has one. They count
# among the weighted people: half of the weight here is of people who never answered.
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

people = pandas.DataFrame({"base": [1.0] * 80, "area": ["north"] * 40 + ["south"] * 40, "answered": [1] * 35 + [0] * 45})
recipe = Recipe.from_design(Design(people, weight="base"))
found = recipe.step_nonresponse(respondent="answered", by=["area"]).fit()
totals = found.weights.groupby([people["area"], people["answered"]]).sum().round(3)
print("weightpipe", version("weightpipe"))
print(totals.to_string())
print("alerts:", found.alerts)
raise SystemExit(bool(totals.to_dict() != {("north", 0): 0, ("north", 1): 40, ("south", 0): 40} or found.alerts != ()))
END
