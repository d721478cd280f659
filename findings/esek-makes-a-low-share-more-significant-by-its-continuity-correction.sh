#!/bin/sh
# Expected of a continuity correction of a test of a share: it takes half a person off the distance to the share that is tested, so
# that 40 of 100 and 60 of 100 are equally far from 50 %, and both less significant than without it.
# Seen: half a person is taken off to one side only. 60 of 100 has z 1.9 in the place of 2.0, and 40 of 100 has -2.1: the corrected
# test is the more significant one, p .036 in the place of .057. The corrected limits of Wald are moved by .05 people, not .5.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check esek==0.1.38 numpy==2.2.6 scipy==1.15.3 statsmodels==0.14.5 pandas==2.3.3
env/bin/python -W ignore - <<'END'
from importlib.metadata import version

from esek.calculators.proportions.one_sample_proportion import OneSampleProportions

print("esek", version("esek"))
seen = []
for yes in (60, 40):
    test = OneSampleProportions.from_parameters(yes / 100, 100, 0.5)
    plain, corrected = test.z_test, test.z_test_corrected
    limits = test.wald_type_confidence_interval, test.wald_type_corrected_confidence_interval
    moved = 100 * (limits[0].lower - limits[1].lower)
    seen.append((round(plain.score, 3), round(corrected.score, 3), round(corrected.p_value, 4), round(moved, 3)))
    print(f"{yes} of 100 against 50 %: z {plain.score:.1f}, p {plain.p_value:.4f}; corrected z {corrected.score:.1f}, p {corrected.p_value:.4f}")
print("limits of Wald are moved by", [row[3] for row in seen], "people")
raise SystemExit(seen != [(2.0, 1.9, 0.0574, 0.05), (-2.0, -2.1, 0.0357, 0.05)])
END
