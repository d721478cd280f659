#!/bin/sh
# Expected of an imputer, where blanks of a yes or no depend on nothing: about as many of them are filled with yes as said yes.
# Seen: a yes or no is filled by a logistic regression whose classes weigh the same, however rare one is, and by its guess, not by a draw.
# Of 2,000 people 6 % said yes; of those who left it blank 49 % get a yes, of whom 6 % would have said it. In the filled table 22 % said
# yes. Nothing warns.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check simpute==0.1.2 pandas==2.3.3 numpy==2.2.6 scikit-learn==1.7.2
MPLCONFIGDIR="$folder" env/bin/python - 2> said <<'END'
from importlib.metadata import version

import numpy
import pandas
from simpute import Simpute

draw = numpy.random.default_rng(1)
PEOPLE = 2000
age, sex = draw.integers(18, 80, PEOPLE), draw.integers(0, 2, PEOPLE)
truth = numpy.where(draw.random(PEOPLE) < 0.05, "yes", "no")
blank = draw.random(PEOPLE) < 0.4
people = pandas.DataFrame(
    {"cheated": numpy.where(blank, None, truth), "age": age.astype(float), "sex": numpy.where(sex == 1, "woman", "man")}
)
filled = Simpute().fit_transform(people)["cheated"]
shares = {
    "answered yes": (truth[~blank] == "yes").mean(),
    "truth of the blanks": (truth[blank] == "yes").mean(),
    "filled with yes": (filled[blank] == "yes").mean(),
    "yes in the filled table": (filled == "yes").mean(),
}
print("simpute", version("simpute"), {name: round(float(share), 3) for name, share in shares.items()})
kept = bool((filled[~blank] == truth[~blank]).all())
seen = [bool(shares[name] < 0.07) for name in shares]
raise SystemExit(not kept or seen != [True, True, False, False] or bool(shares["filled with yes"] < 0.35))
END
echo "said: $(cat said)"
test ! -s said
