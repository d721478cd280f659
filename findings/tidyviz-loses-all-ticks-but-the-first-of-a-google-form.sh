#!/bin/sh
# tidyviz 0.1.1 turns a column of several answers into one column of 0 and 1 for each option. Google Forms writes such
# answers with a comma and a space between them: "Alcohol, Cannabis".
# Expected: two people used cannabis.
# Seen: options are named without the space but looked for with it, so that all ticks but the first of a person are 0:
# nobody used cannabis.
# It matters since nothing is missing: the columns are there, with their names, and most shares are too low.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check "tidyviz==0.1.1" "pandas==2.3.3" "numpy==2.2.6"
cat > seen.py <<'PROGRAM'
from importlib.metadata import version

import pandas as pd
from tidyviz.tidy import expand_multiple_choice

answers = ["Alcohol, Cannabis", "Alcohol, Cannabis, Nicotine", "Nicotine", None]
spaced = expand_multiple_choice(pd.DataFrame({"used": answers}), "used").sum().to_dict()
close = [answer and answer.replace(", ", ",") for answer in answers]
told = expand_multiple_choice(pd.DataFrame({"used": answers}), "used", sep=", ").sum().to_dict()
print("tidyviz", version("tidyviz"))
print("answers:            ", answers)
print("as Google writes:   ", spaced)
print("without the spaces: ", expand_multiple_choice(pd.DataFrame({"used": close}), "used").sum().to_dict())
print('told that sep=", ": ', told)
assert spaced == {"used_Alcohol": 2, "used_Cannabis": 0, "used_Nicotine": 1}
assert told == {"used_Alcohol": 2, "used_Cannabis": 2, "used_Nicotine": 2}
print("All ticks but the first are 0, under the right names.")
PROGRAM
env/bin/python seen.py
