#!/bin/sh
# opendp 0.16.0, randomized response over the categories no and yes, truth with probability 3/4.
# Expected: a value that is no category (a misspelt or blank answer) is an error.
# Seen: it is answered by a category drawn evenly, like any other report.
# It matters where an export writes "Yes" or a blank: the estimate moves towards one half and nothing tells.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check "opendp==0.16.0"
cat > seen.py <<'PROGRAM'
import warnings
from collections import Counter
from importlib.metadata import version

import opendp.prelude as dp

warnings.simplefilter("ignore", DeprecationWarning)
dp.enable_features("contrib", "floating-point")
response = dp.m.make_randomized_response(["no", "yes"], prob=0.75)
print("opendp", version("opendp"))
counts = {value: Counter(response(value) for _ in range(4000)) for value in ("yes", "Yes", "")}
for value, found in counts.items():
    print(repr(value), dict(found))
assert counts["yes"]["yes"] > 2800
for other in ("Yes", ""):
    assert set(counts[other]) == {"no", "yes"}
    assert abs(counts[other]["yes"] - 2000) < 250
print("A value outside the categories gets an even coin, and no error.")
PROGRAM
env/bin/python seen.py
