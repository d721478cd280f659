#!/bin/sh
# Expected of intervals that are written as [18, 36): 18 is in it, and 36 is not, as in the hierarchies that the package's page writes by hand.
# Seen: generate_intervals, which the page offers to make them with, puts each lower limit into the interval below: 18 into [0, 18). Of
# 900 people of 10 to 18 years, 100 of each, all are under eighteen in the table that is released, where 800 are.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check anjana==1.2.3 pycanon==1.3.5 pandas==2.3.3 numpy==2.0.2
env/bin/python - <<'END'
from importlib.metadata import version

import numpy
import pandas
from anjana.anonymity import k_anonymity
from anjana.anonymity.utils.utils import generate_intervals

ages = numpy.repeat(numpy.arange(10, 19), 100)
limits = [int(age) for age in (17, 18, 19, 35, 36)]
people = pandas.DataFrame({"age": ages, "answer": ["yes", "no"] * 450})
hierarchies = {"age": {0: ages, 1: generate_intervals(ages, 0, 90, 18)}}
released = k_anonymity(people, [], ["age"], 200, 0, hierarchies)["age"].value_counts().to_dict()
print("anjana", version("anjana"), dict(zip(limits, generate_intervals(limits, 0, 90, 18), strict=True)))
print("under eighteen:", int((ages < 18).sum()), "released:", released)
raise SystemExit(released != {"[0, 18)": 900})
END
