#!/bin/sh
# Expected of Little's test whether blanks depend on answers: where they do not, 5 samples of 100 have a p below .05.
# Seen: none of 300. Degrees of freedom are the answered questions of each pattern of blanks, without taking off the means that were
# estimated, and people who answered one question alone are passed over: 2 in the place of 1 for two questions of which one was left
# blank. Where a high answer to the one makes a blank in the other likelier, the test sees it in a tenth of the samples, and a t test
# of the same answers in seven tenths.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check missingness-analyzer==0.1.2 pandas==2.3.3 numpy==2.2.6 scipy==1.15.3 scikit-learn==1.7.2
env/bin/python - <<'END'
from importlib.metadata import version

import numpy
import pandas
from missingness_analyzer.mcar import little_mcar_test
from scipy.stats import ttest_ind

draw = numpy.random.default_rng(1)
SAMPLES, PEOPLE = 300, 200
seen = {}
for slope in (0, 0.4):
    found = []
    for _ in range(SAMPLES):
        asked = draw.normal(size=(PEOPLE, 2)) @ [[1, 0.5], [0, 1]]
        blank = draw.random(PEOPLE) < 1 / (1 + numpy.exp(0.8 - slope * asked[:, 0]))
        compared = ttest_ind(asked[blank, 0], asked[~blank, 0]).pvalue
        asked[blank, 1] = numpy.nan
        _, freedom, p = little_mcar_test(pandas.DataFrame(asked, columns=["hours", "cheated"]))
        found.append((p < 0.05, compared < 0.05))
    seen[slope] = numpy.mean(found, axis=0)
    print(f"blanks that depend by {slope}: p < .05 in {seen[slope][0]:.1%}, by a t test in {seen[slope][1]:.1%}; degrees of freedom {freedom}")
print("missingness-analyzer", version("missingness-analyzer"))
raise SystemExit(not (freedom == 2 and seen[0][0] == 0 and 0.02 < seen[0][1] < 0.08 and seen[0.4][1] > 4 * seen[0.4][0]))
END
