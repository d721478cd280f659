#!/bin/sh
# Expected of post-randomization with a least diagonal of .8 and alpha .5: about as many answers change, whether a column holds texts or
# categories of pandas, which hold the same texts.
# Seen: with one column of categories in the table, also one that is not randomized, no answer changes. Rows are changed as they come by,
# and such a row is a copy. Nothing warns: of 1,000 people who are told that their answers were randomized all are released as they were.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pram==0.2.0 pandas==2.3.3 numpy==2.2.6
env/bin/python -W ignore::FutureWarning - <<'END'
from importlib.metadata import version

import numpy
import pandas
from pram import pram

draw = numpy.random.default_rng(1)
PEOPLE = 1000
texts = pandas.DataFrame(
    {
        "cheated": numpy.where(draw.random(PEOPLE) < 0.2, "yes", "no"),
        "region": numpy.where(draw.random(PEOPLE) < 0.3, "north", "south"),
    }
)
tables = {
    "texts": texts,
    "categories": texts.astype("category"),
    "texts beside a column of categories": texts.astype({"region": "category"}),
}
changed = {}
for name, table in tables.items():
    numpy.random.seed(1)
    released = pram(table, m=0.8, alpha=0.5, columns=["cheated"])
    changed[name] = int((released["cheated"].astype(str) != texts["cheated"]).sum())
print("pram", version("pram"), "changed answers of", PEOPLE, changed)
raise SystemExit(changed["texts"] < 50 or [*changed.values()][1:] != [0, 0])
END
