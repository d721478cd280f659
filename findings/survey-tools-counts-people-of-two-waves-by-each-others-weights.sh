#!/bin/sh
# Expected of weighted shares of two waves, put together by pandas.concat: each answer counts by its own weight, 12 of 28 for yes.
# Seen: weights are looked up by the number of the row, which each wave counts from 0. Each person also gets the weight of the one with the
# same number in the other wave: yes is 28.6 % in the place of 42.9 %. With ignore_index=True the share is right, without it nothing warns.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check survey-tools==0.1.1 pandas==2.3.3 numpy==2.2.6
env/bin/python -W error::UserWarning - <<'END'
from importlib.metadata import version

import pandas
from survey_tools import tabs

first = pandas.DataFrame({"vote": ["yes"] * 4 + ["no"] * 6, "weight": [3.0] * 4 + [1.0] * 6})
second = pandas.DataFrame({"vote": ["no"] * 10, "weight": [1.0] * 10})
print("survey-tools", version("survey-tools"))
seen = []
for is_numbered_anew in (True, False):
    waves = pandas.concat([first, second], ignore_index=is_numbered_anew)
    seen.append(round(float(tabs(waves, "vote", wts="weight", display="column")["yes"]), 1))
    print("rows numbered anew:" if is_numbered_anew else "rows as concat has them:", seen[-1], "% yes")
raise SystemExit(seen != [42.9, 28.6])
END
