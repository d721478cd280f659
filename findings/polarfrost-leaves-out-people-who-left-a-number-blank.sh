#!/bin/sh
# Expected of a file that is made k-anonymous: its counts of people add up to the people of the file, or it says who is left out.
# Seen: a group is cut at its median into those at or below and those above, and a blank is neither. People who left their age blank
# are in no group, without a word: of ten people eight are counted, and the two yes among the blanks are lost.
# (pyspark-client is the small package that the import of pyspark is content with; no Spark runs.)
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check polarfrost==0.2.1 polars==1.30.0 pandas==2.3.3 numpy==2.2.6 pyarrow==21.0.0 pyspark-client==4.0.1
env/bin/python -W error::UserWarning - <<'END'
from importlib.metadata import version

import polars as pl
from polarfrost import mondrian_k_anonymity_polars

ages = [20, 21, 25, 30, 35, 40, None, None, 60, 61]
people = pl.DataFrame({"age": ages, "ill": ["no"] * 6 + ["yes"] * 2 + ["no"] * 2})
given = mondrian_k_anonymity_polars(people, ["age"], "ill", 2)
print("polarfrost", version("polarfrost"), "polars", version("polars"))
print(given.sort("age").rows())
counted = given["count"].sum()
print("people in the file:", len(people), "counted:", counted, "answers to ill:", sorted(set(given["ill"])))
raise SystemExit(counted != 8 or set(given["ill"]) != {"no"})
END
