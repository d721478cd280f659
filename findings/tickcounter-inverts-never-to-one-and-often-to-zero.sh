#!/bin/sh
# tickcounter 0.2.3 inverts the codes of a scale in which two answers have one code: never and "cannot say" are 0,
# sometimes 1, often 2.
# Expected: never and "cannot say" become 2, sometimes 1, often 0.
# Seen: sorted answers are paired with sorted codes, one by one: often and sometimes are both 0, never is 1, "cannot say" 2.
# It matters for each item of a scale that is worded the other way round: its answers are no longer in order, and the
# sum of the scale has them in it.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check "tickcounter==0.2.3" "pandas==2.3.3" "numpy==2.2.6"
cat > seen.py <<'PROGRAM'
from importlib.metadata import version

from tickcounter.questionnaire import Encoder

codes = {"never": 0, "cannot say": 0, "sometimes": 1, "often": 2}
inverted = Encoder(dict(codes), invert=True).encoding
plain = Encoder({"never": 0, "sometimes": 1, "often": 2}, invert=True).encoding
print("tickcounter", version("tickcounter"))
print("codes:                  ", codes)
print("inverted:               ", inverted)
print('without "cannot say":   ', plain)
assert plain == {"never": 2, "sometimes": 1, "often": 0}
assert inverted == {"never": 1, "cannot say": 2, "sometimes": 0, "often": 0}
print("Often and sometimes have one code, never and cannot say two.")
PROGRAM
env/bin/python seen.py
