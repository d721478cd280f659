#!/bin/sh
# Expected of a count sketch under local differential privacy: the counts of all answers add up to about the number of people, by either
# of the two protocols of the package.
# Seen: with epsilon 2 the Hadamard sketch adds up to about 16,500 of 10,000 people, the other one to about 10,000. An answer is kept with
# the odds e^epsilon, and its noise is taken out with a factor for e^(epsilon/2), 1.65 times too large. (The package's modules name
# themselves by the folder src of the author's project, for which a link stands in here.)
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check localprivacy-martaajonees==1.0.2 numpy==2.2.6 pandas==2.3.3 sympy==1.14.0 \
  rich==14.2.0 tabulate==0.9.0 colorama==0.4.6
mkdir src
ln -s "$(echo "$folder"/env/lib/python3*/site-packages/localPrivacy_martaajonees)" src/
PYTHONPATH=. env/bin/python - <<'END'
import contextlib
import io
import random
from importlib.metadata import version
from math import exp

import numpy
import pandas
from localPrivacy_martaajonees.count_mean.private_cms_client import run_private_cms_client
from localPrivacy_martaajonees.hadamard_count_mean.private_hcms_client import run_private_hcms_client

EPSILON, PEOPLE = 2.0, {1: 4000, 2: 3000, 3: 2000, 4: 1000}
people = pandas.DataFrame({"value": numpy.repeat(list(PEOPLE), list(PEOPLE.values()))})
random.seed(1)
numpy.random.seed(1)
found = {}
for name, run in (("Hadamard", run_private_hcms_client), ("count mean", run_private_cms_client)):
    totals = []
    for _ in range(3):
        with contextlib.redirect_stdout(io.StringIO()):
            counts = run(16, 64, EPSILON, people)[-1].set_index("Element")["Frequency"]
        totals.append(round(float(counts.sum())))
    found[name] = totals
factor = (exp(EPSILON / 2) + 1) / (exp(EPSILON / 2) - 1) * (exp(EPSILON) - 1) / (exp(EPSILON) + 1)
print("localprivacy-martaajonees", version("localprivacy-martaajonees"), f"of {len(people)} people, three times each:", found)
print(f"by the formulas {factor:.2f} times too many by the Hadamard sketch")
means = [sum(totals) / 3 for totals in found.values()]
raise SystemExit(not 14_500 < means[0] < 18_500 or not 9_000 < means[1] < 11_000)
END
