#!/bin/sh
# Expected of the limits of a ratio of two shares: they are as wide as the two groups together are uncertain, on a log scale
# sqrt((1 - p) / x + (1 - q) / y) for x and y who said yes.
# Seen: the second group's part is left out. Of 300 of 400 who were asked at school and 10 of 40 at home, the ratio 3.0 has limits of
# 2.83 to 3.17 in the place of 1.75 to 5.15. Of 300 samples of such groups the limits hold the ratio in 16 of 100, not in 95.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check statika==1.0.1 polars==1.44.2 numpy==2.2.6 scipy==1.15.3
env/bin/python - <<'END'
import math
from importlib.metadata import version

import numpy
import polars
from openstat.stats.epidemiology import cohort_study

SCHOOL, HOME = 400, 40


def limits(yes_at_school, yes_at_home):
    said = [1] * yes_at_school + [0] * (SCHOOL - yes_at_school) + [1] * yes_at_home + [0] * (HOME - yes_at_home)
    people = polars.DataFrame({"cheated": said, "at_school": [1] * SCHOOL + [0] * HOME})
    found = cohort_study(people, "cheated", "at_school")
    return found["rr_ci_95_lo"], found["rr_ci_95_hi"]


error = math.sqrt(0.25 / 300 + 0.75 / 10)
right = [round(3 * math.exp(sign * 1.959964 * error), 2) for sign in (-1, 1)]
seen = [round(limit, 2) for limit in limits(300, 10)]
draw = numpy.random.default_rng(1)
samples = [limits(draw.binomial(SCHOOL, 0.75), draw.binomial(HOME, 0.25)) for _ in range(300)]
held = sum(low <= 3 <= high for low, high in samples) / len(samples)
print("statika", version("statika"), "limits of the ratio 3.0:", seen, "; by both groups:", right)
print(f"of {len(samples)} samples the limits hold the ratio in {held:.0%}")
raise SystemExit(seen != [2.83, 3.17] or held > 0.3)
END
