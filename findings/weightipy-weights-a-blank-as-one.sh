#!/bin/sh
# weightipy 0.4.2 rakes ten people to sex 50 : 50. One person left sex blank; in a second file that
# person gave a third answer that is not among the targets.
# Expected: both are refused, or both get the mean weight.
# Seen: the blank gets exactly 1, the third answer about .05, and neither is mentioned.
# It matters where few people decline a background question: their private answers count as they are,
# or twenty times less than anyone else.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check "weightipy==0.4.2" "pandas==2.3.3" "numpy==2.2.6"
cat > seen.py <<'PROGRAM'
import warnings
from importlib.metadata import version

import pandas as pd
import weightipy

warnings.simplefilter("error", UserWarning)
people = pd.DataFrame({"sex": ["m"] * 6 + ["f"] * 3 + [None], "age": list("yyooooyoyy")})
scheme = weightipy.scheme_from_dict({"sex": {"m": 50, "f": 50}, "age": {"y": 40, "o": 60}})
blank = weightipy.weight_dataframe(people, scheme, "weight")["weight"].round(3).tolist()
third = weightipy.weight_dataframe(people.fillna("d"), scheme, "weight")["weight"].round(3).tolist()
print("weightipy", version("weightipy"))
print("sex blank:       ", blank)
print("sex not a target:", third)
assert blank[-1] == 1.0
assert third[-1] < 0.1 < min(third[:-1])
print("The blank has weight 1, the answer outside the targets 1/20; no warning.")
PROGRAM
env/bin/python seen.py
