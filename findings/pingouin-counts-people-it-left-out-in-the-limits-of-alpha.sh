#!/bin/sh
# Expected of cronbach_alpha with nan_policy="listwise": the same limits as of a file that has the complete rows alone.
# Seen: alpha is that of the 30 complete rows, its limits are those of 400 people: .74 to .81 in the place of .62 to .89.
# The package cronbach, which has its own copy of the function, does the same.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pingouin==0.7.0 cronbach==0.6.0 pandas==3.1.1 numpy==2.4.6
env/bin/python - <<'END'
from importlib.metadata import version

import cronbach
import numpy
import pandas
import pingouin

draws = numpy.random.default_rng(1)
trait = draws.normal(size=400)
answers = pandas.DataFrame({item: numpy.round(trait + draws.normal(size=400)) for item in "abcd"})
answers.loc[30:, "d"] = numpy.nan
functions = {"pingouin": pingouin.cronbach_alpha, "cronbach": cronbach.alpha}
seen = {}
for name, function in functions.items():
    print(name, version(name))
    for rows, table in (("400, 30 of them complete", answers), ("the 30 complete ones", answers.dropna())):
        alpha, limits = function(table, nan_policy="listwise")
        seen[name, rows] = [round(float(number), 2) for number in (alpha, *limits)]
        print("  rows:", rows, "-> alpha, limits:", seen[name, rows])
raise SystemExit(list(seen.values()) != [[0.78, 0.74, 0.81], [0.78, 0.62, 0.89]] * 2)
END
