#!/bin/sh
# Expected of the standard error of a weighted mean, in a table of survey estimates: sqrt(sum w^2 (y - mean)^2) / sum w, which grows
# where few people carry most of the weight.
# Seen: it is that of as many people of one weight. Of 1,000 people of whom a tenth weigh 30 each and the others 1, the error of a
# share is printed as .016, and is .039: the share varies by that much from sample to sample.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check statika==1.0.1 polars==1.44.2 pandas==2.3.3 pyarrow==21.0.0 numpy==2.2.6 scipy==1.15.3
env/bin/python - <<'END'
from importlib.metadata import version

import numpy
import polars
from openstat.stats.survey import weighted_summary

weights = numpy.array([30.0] * 100 + [1.0] * 900)
draw = numpy.random.default_rng(1)
shares = [numpy.average(draw.random(1000) < 0.5, weights=weights) for _ in range(2000)]
answers = numpy.array([1.0, 0.0] * 500)
right = numpy.sqrt(((weights * (answers - numpy.average(answers, weights=weights))) ** 2).sum()) / weights.sum()
table = weighted_summary(polars.DataFrame({"cheated": answers, "weight": weights}), ["cheated"], "weight")
printed = float(table.splitlines()[-1].split()[2])
print("statika", version("statika"))
print(table)
print(f"by the weights: {right:.4f}; of 2,000 samples: {numpy.std(shares):.4f}")
raise SystemExit(bool((printed, round(right, 4)) != (0.0159, 0.0387) or abs(numpy.std(shares) / right - 1) > 0.1))
END
