#!/bin/sh
# Expected of a logistic regression of an answer yes or no, for people who teach with it: odds ratios of yes, or a line that says of
# which answer they are.
# Seen: those of the answer that comes first in the alphabet. 20 of 100 women and 40 of 100 men say yes: the table shows 2.67 for
# women in the place of .38, and names no answer. In French, where non stands before oui, it is the same.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pyshs==0.4.3 statsmodels==0.15.0 pandas==2.3.3 numpy==2.0.2 scipy==1.15.3
env/bin/python -W ignore - <<'END'
import contextlib
import io
from importlib.metadata import version

import pandas
import pyshs

groups = [("man", "yes", 40), ("man", "no", 60), ("woman", "yes", 20), ("woman", "no", 80)]
people = pandas.DataFrame([(sex, answer) for sex, answer, n in groups for _ in range(n)], columns=["sex", "cheated"])
people["said_yes"] = (people["cheated"] == "yes").astype(int)
ratios = {}
for outcome in ("said_yes", "cheated"):
    with contextlib.redirect_stdout(io.StringIO()):
        table = pyshs.regression_logistique(people, outcome, ["sex"])
    ratios[outcome] = float(table.loc[("sex", "woman"), "OR"])
said = table.to_string()
print("pyshs", version("pyshs"), "odds ratio of women; 1 for yes, and the answers yes and no as text:", ratios)
print(said)
raise SystemExit(ratios != {"said_yes": 0.38, "cheated": 2.67} or "yes" in said)
END
