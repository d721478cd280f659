#!/bin/sh
# pysurveyx 0.21.0: the mean of a yes/no column of ten people of whom four did not answer and four of the six others said yes.
# Expected: 4 of 6, or an error that names the blanks.
# Seen: 4 of 10: a blank counts as no.
# It matters for every sensitive question that people may decline.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check "pysurveyx==0.21.0" "pandas==2.3.3" "numpy==2.2.6"
cat > seen.py <<'PROGRAM'
from importlib.metadata import version

import pandas as pd
from pysurveyx.design import SurveyDesign
from pysurveyx.estimators import SurveyMean

answers = pd.DataFrame({"yes": [1.0, 1, 1, 1, 0, 0, None, None, None, None], "w": 1.0})
text = str(SurveyMean("yes").fit(SurveyDesign(answers, weight="w")).summary())
print("pysurveyx", version("pysurveyx"))
print(text)
assert "0.4" in text and "0.66" not in text
print("Four blanks of ten count as four people who said no.")
PROGRAM
env/bin/python seen.py
