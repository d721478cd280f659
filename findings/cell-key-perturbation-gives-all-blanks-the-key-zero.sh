#!/bin/sh
# Expected of cell key perturbation: the noise of a cell follows the keys of the people in it, so that two cells of 20 people have
# different noise, and who compares tables cannot tell noise from people.
# Seen: a cell of people who left a question blank has the key 0, whichever people they are, since keys are added up without blanks. Its noise
# is the same in every table, and so can be taken away again; cells of an answer vary.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check cell-key-perturbation==3.1.0 pandas==2.3.3 numpy==2.0.2
env/bin/python - <<'END'
from contextlib import redirect_stdout
from importlib.metadata import version
from io import StringIO

import numpy
import pandas
from cell_key_perturbation.create_perturbed_table import create_perturbed_table

noise = [(count, key, key % 3 - 1) for count in range(1, 751) for key in range(256)]
table = pandas.DataFrame(noise, columns=["pcv", "ckey", "pvalue"])
keys, seen = numpy.random.default_rng(1), {"yes": set(), "blank": set()}
for _ in range(40):
    people = pandas.DataFrame({"cheated": ["yes"] * 20 + [None] * 20, "record_key": keys.integers(0, 256, 40)})
    with redirect_stdout(StringIO()):
        found = create_perturbed_table(people, table, [], ["cheated"], "record_key", threshold=0)
    for answer, count in zip(found["cheated"].fillna("blank"), found["count"]):
        seen[answer].add(int(count))
print("cell-key-perturbation", version("cell-key-perturbation"))
print("40 groups of 20 who said yes and 20 who left it blank; counts of those who said yes:", sorted(seen["yes"]))
print("counts of those who left it blank:", sorted(seen["blank"]))
raise SystemExit(bool(seen != {"yes": {19, 20, 21}, "blank": {19}}))
END
