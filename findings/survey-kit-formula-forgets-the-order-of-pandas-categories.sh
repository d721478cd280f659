#!/bin/sh
# Expected of a formula for a column of pandas whose categories are in order, primary < secondary < higher: as in R, whose rules
# this package says it follows, the others are compared with the first, and an ordered column is coded by polynomials.
# Seen: survey-kit-formula sorts the categories of pandas by the alphabet, and takes an ordered column for plain text. An Enum of
# polars is compared with "primary", the same column in pandas with "higher": the coefficients have other signs.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check survey-kit-formula==0.1.0 pandas==2.3.3 polars==2.1.0 numpy==2.2.6 pyarrow==26.0.1
env/bin/python - <<'END'
from importlib.metadata import version

import numpy
import pandas
import polars
from survey_kit_formula import model_frame

levels = ["primary", "secondary", "higher"]
answers = ["primary", "secondary", "higher", "primary"]
outcome = [1.0, 2.0, 6.0, 1.0]
tables = {
    "polars, Enum": polars.DataFrame({"school": polars.Series(answers, dtype=polars.Enum(levels))}),
    "pandas, categories": pandas.DataFrame({"school": pandas.Categorical(answers, levels)}),
    "pandas, ordered": pandas.DataFrame({"school": pandas.Categorical(answers, levels, ordered=True)}),
}
print("survey-kit-formula", version("survey-kit-formula"))
seen = {}
for name, table in tables.items():
    frame = model_frame("~ school", table)
    slopes = numpy.linalg.lstsq(frame.to_numpy().astype(float), numpy.array(outcome), rcond=None)[0].round(6) + 0.0
    seen[name] = dict(zip(frame.columns, slopes.tolist()))
    print(name, "->", seen[name])
alphabet = {"(Intercept)": 6.0, "schoolsecondary": -4.0, "schoolprimary": -5.0}
first = {"(Intercept)": 1.0, "schoolsecondary": 1.0, "schoolhigher": 5.0}
raise SystemExit(seen != {"polars, Enum": first, "pandas, categories": alphabet, "pandas, ordered": alphabet})
END
