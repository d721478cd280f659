#!/bin/sh
# Expected of a k-ary randomized response with epsilon ln 3: each option of the question is reported by a share of at least
# 1/(3+k-1) of people, whatever they hold.
# Seen: the options are those that occur in the column, so an option that no one holds is never reported. One report of it shows
# that somebody in the group holds it, which the epsilon promises not to show.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check trasgodp==2.1.0 pandas==2.3.3 numpy==2.0.2
env/bin/python - <<'END'
import math
from importlib.metadata import version

import numpy
import pandas
from trasgodp.categorical import dp_randomized_response_kary

numpy.random.seed(1)
print("trasgodp", version("trasgodp"), "options of the question: never, once, often, daily; epsilon ln 3")
seen = []
for holders in (0, 1):
    answers = ["daily"] * holders + ["never", "once", "often"] * 2000
    people = pandas.DataFrame({"stole": answers})
    reports = dp_randomized_response_kary(people, "stole", math.log(3))["stole"]
    seen.append(int((reports == "daily").sum()))
    print(len(people), "people,", holders, "of them daily; reports of daily:", seen[-1], "expected", len(people) // 6)
raise SystemExit(seen[0] != 0 or seen[1] < 900)
END
