#!/bin/sh
# Expected of icw_index(arrays, reference_mask): its text says that the mask is the "reference group for covariance calculation", as
# normby() of Stata's swindex. So the index of a control group is made of the control group's answers alone.
# Seen: means and standard deviations are those of the mask, the covariances are those of all people. Where the treated alone answer
# otherwise, the control group's own index changes, and with it the effect that is read off it.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check icw-index==0.1.0 numpy==2.2.6
env/bin/python - <<'END'
from importlib.metadata import version

import numpy
from icw import icw_index

draws = numpy.random.default_rng(1)
health, sleep, income = draws.normal(size=(3, 400))
sleep = 0.9 * health + 0.4 * sleep
control = numpy.arange(400) < 200


def index_of_control(health):
    return icw_index([health, sleep, income], reference_mask=control)[control]


as_asked = index_of_control(health)
alone = icw_index([health[control], sleep[control], income[control]])
turned = index_of_control(numpy.where(control, health, -health))
print("icw-index", version("icw-index"))
for name, other in (("without the treated in the file", alone), ("with other answers of theirs", turned)):
    print(f"correlation of the control group's index with the one {name}: {numpy.corrcoef(as_asked, other)[0, 1]:.3f}")
    print("  one person:", round(float(as_asked[1]), 2), "and", round(float(other[1]), 2))
same = [numpy.allclose(as_asked, other, atol=0.01) for other in (alone, turned)]
raise SystemExit(same != [False, False])
END
