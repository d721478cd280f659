#!/bin/sh
# Expected of a conditional Rasch model: the printed standard error of an item's severity is how much the severity varies from sample
# to sample. Of k items that are alike it is sqrt((k - 1) / k / (N v k / (k - 1))), with v = r (k - r) / k^2 for people of score r.
# Seen: of the eight questions of the food insecurity scale it is 15 % larger, of three questions 73 %: covariances of two answers
# given the score are taken with the other sign, so that k - 2 stands for k. Severities themselves are right.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pyfies==0.1.1 numpy==2.2.6 scipy==1.15.3 pandas==2.3.3
env/bin/python - <<'END'
import itertools
from importlib.metadata import version

import numpy
from pyfies import RaschModel


def answers(items, score, times):
    patterns = [row for row in itertools.product((0, 1), repeat=items) if sum(row) == score]
    return numpy.array(patterns * times)


print("pyfies", version("pyfies"))
seen = []
for items, score, times in ((8, 4, 10), (3, 1, 200)):
    people = answers(items, score, times)
    spread = score * (items - score) / items**2
    right = ((items - 1) / items / (len(people) * spread * items / (items - 1))) ** 0.5
    printed = RaschModel().fit(people).se_beta
    draw = numpy.random.default_rng(items)
    again = [RaschModel().fit(people[draw.integers(0, len(people), len(people))]).beta for _ in range(300)]
    varied = numpy.std(again, axis=0, ddof=1).mean()
    seen.append(round(float(printed.mean() / right), 4))
    print(f"{items} items, {len(people)} people: printed {printed.mean():.4f}, by the formula {right:.4f}, of 300 samples {varied:.4f}")
    assert abs(varied / right - 1) < 0.05
print("printed by right:", seen)
raise SystemExit(seen != [1.1547, 1.7321])
END
