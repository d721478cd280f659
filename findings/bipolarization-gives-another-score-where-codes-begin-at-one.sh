#!/bin/sh
# bipolarization 0.2.2 scores how opposed the answers of people to two questions are. The same answers of 60 people on
# scales of five points are coded 0 to 4 in one run and 1 to 5 in the other, with start_value and end_value to match.
# Expected: the same score; the codes only name the five points.
# Seen: .698 with codes from 0, .759 with codes from 1: the middle of the scale is looked for at (last - first), not at
# (first + last), so that weights are largest left of it, and some are negative.
# It matters since most scales of questionnaires are coded from 1.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check "bipolarization==0.2.2" "pandas==3.1.1" "numpy==2.4.6"
cat > seen.py <<'PROGRAM'
from importlib.metadata import version

import pandas as pd
from polarization import calculate_scores
from polarization.weights import weight_matrix_generator

answers = pd.DataFrame({"ours": [4] * 30 + [0] * 20 + [3] * 10, "theirs": [0] * 30 + [3] * 20 + [4] * 10})


def overall(people: pd.DataFrame, first: int) -> float:
    found = calculate_scores(people, "ours", "theirs", start_value=first, end_value=first + 4, B=2)
    return round(found["point"]["overall"], 4)


print("bipolarization", version("bipolarization"))
print("codes 0 to 4:", overall(answers, 0))
print("codes 1 to 5:", overall(answers + 1, 1))
assert overall(answers, 0) == 0.6979 and overall(answers + 1, 1) == 0.7593
lowest = float(weight_matrix_generator(1, 5).min())
print("the lowest weight with codes 1 to 5:", round(lowest, 4))
assert lowest < 0
print("The score depends on what the first point is called.")
PROGRAM
env/bin/python seen.py
