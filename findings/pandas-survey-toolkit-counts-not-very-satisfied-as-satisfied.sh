#!/bin/sh
# Expected of an encoder of agreement scales: "not very satisfied" is a negative answer, or is named as not understood.
# Seen: it becomes +1, like "very satisfied", and no warning is given. This is the wording of the scale that Eurobarometer asks.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pandas-survey-toolkit==2.0.1 pandas==2.3.3 numpy==2.2.6
env/bin/python -W ignore - <<'END'
import warnings
from importlib.metadata import version

import pandas
from pandas_survey_toolkit.nlp import encode_likert

ANSWERS = ["Very satisfied", "Fairly satisfied", "Not very satisfied", "Not at all satisfied", "Dissatisfied"]
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    table = encode_likert(pandas.DataFrame({"life": ANSWERS}), ["life"], debug=False)
seen = dict(zip(ANSWERS, table["likert_encoded_life"].tolist()))
named = [str(one.message) for one in said if "convert" in str(one.message)]
print("pandas-survey-toolkit", version("pandas-survey-toolkit"))
print(seen, "warnings about answers:", named)
raise SystemExit(seen != dict(zip(ANSWERS, [1, 1, 1, 1, -1])) or bool(named))
END
