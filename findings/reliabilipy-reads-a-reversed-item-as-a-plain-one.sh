#!/bin/sh
# Expected of Cronbach's alpha of six items, three of which are worded the other way round and not yet recoded: a negative number, the sign
# that something is to be recoded. Of six columns of noise: about 0.
# Seen: the signs of all correlations are dropped. Alpha is .84 with and without recoding, while the sum of the answers measures nothing;
# noise of 40 people has .46.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check reliabilipy==0.0.36 factor_analyzer==0.5.1 scikit-learn==1.5.2 \
  pandas==2.3.3 numpy==1.26.4
env/bin/python - <<'END'
from importlib.metadata import version

import numpy
import pandas
from reliabilipy import reliability_analysis


def reported(answers):
    report = reliability_analysis(raw_dataset=answers, is_corr_matrix=False)
    report.fit()
    return round(float(report.alpha_cronbach), 2)


def by_its_formula(answers):
    """Of standardized answers, as the package has it."""
    correlations = answers.corr().to_numpy()
    k = len(correlations)
    return round(float(k / (k - 1) * (1 - k / correlations.sum())), 2)


draws = numpy.random.default_rng(2)
trait = draws.normal(size=500)
plain = pandas.DataFrame({item: numpy.clip(numpy.round(3 + trait + draws.normal(size=500)), 1, 5) for item in "abcdef"})
reversed_items = plain.assign(**{item: 6 - plain[item] for item in "bdf"})
noise = pandas.DataFrame(draws.normal(size=(40, 6)), columns=list("abcdef"))
print("reliabilipy", version("reliabilipy"))
seen = []
for name, answers in (("recoded", plain), ("three of six reversed", reversed_items), ("noise", noise)):
    seen.append((reported(answers), by_its_formula(answers)))
    print(f"{name}: alpha {seen[-1][0]}, by its formula {seen[-1][1]}")
raise SystemExit(seen != [(0.84, 0.84), (0.84, -1.16), (0.46, -0.76)])
END
