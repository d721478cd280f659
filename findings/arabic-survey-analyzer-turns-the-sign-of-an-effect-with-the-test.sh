#!/bin/sh
# Expected of a comparison of two groups: whoever is lower has the negative effect, whichever test the program chose. And two questions
# that everybody answers alike have a Cramer's V of 1.
# Seen: where boys are lower than girls, Cohen's d is -3.43 and the rank correlation, which stands in its place where answers are not
# normal, is +.98. Of twenty people V is .90, since Yates' correction is taken off the chi square that V is made of.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check arabic-survey-analyzer==0.1.0 numpy==2.2.6 scipy==1.15.3 pandas==2.3.3 \
  scikit-learn==1.7.2
env/bin/python -W ignore - <<'END'
from importlib.metadata import version

import pandas
from arabic_survey_analyzer.inferential import chi_square_table, compare_groups

EFFECT, CRAMER = "حجم الأثر", "معامل كرامير V"
groups = pandas.Series(["boys"] * 12 + ["girls"] * 12)
score = pandas.DataFrame({"belonging": [1, 2, 2, 3, 2, 1, 2, 3, 1, 2, 2, 3, 4, 5, 4, 5, 5, 4, 3, 5, 4, 4, 5, 5]})
effects = [compare_groups(score, groups, score, force=test)[EFFECT].item() for test in ("parametric", "nonparametric")]
twice = pandas.DataFrame({"now": ["yes", "no"] * 10, "again": ["yes", "no"] * 10})
cramer = chi_square_table(twice, "now", "again")[0][CRAMER].item()
print("arabic-survey-analyzer", version("arabic-survey-analyzer"))
print("boys", score["belonging"][:12].mean(), "girls", round(score["belonging"][12:].mean(), 2), "->", effects)
print("V of twenty people who answer the same twice:", cramer)
raise SystemExit((effects, cramer) != (["Cohen's d = -3.431", "Rank-biserial r = 0.979"], 0.9))
END
