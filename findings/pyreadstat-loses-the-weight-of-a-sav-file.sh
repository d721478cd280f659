#!/bin/sh
# Expected of a reader of .sav: a file that SPSS weights by a column says so, if only in its metadata, and a copy is weighted, too.
# Seen: neither the table nor its metadata names the weight, and the copy has none. A share of 80 % in SPSS is 67 % in pandas, and
# in SPSS again once the copy is opened there. pyspssio, which holds IBM's own library, tells the weight of the first file.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pyreadstat==1.3.7 pyspssio==0.6.0 pandas==2.3.3 numpy==2.2.6
env/bin/python -W ignore - <<'END'
from importlib.metadata import version

import pandas
import pyreadstat
import pyspssio

table = pandas.DataFrame({"smokes": [0.0, 1.0, 1.0], "people": [1.0, 3.0, 1.0]})
pyspssio.write_sav("people.sav", table, metadata={"case_weight_var": "people"})
read, told = pyreadstat.read_sav("people.sav")
words = [name for name, value in vars(told).items() if "weight" in name or value == "people"]
pyreadstat.write_sav(read, "copy.sav")
weights = [pyspssio.read_metadata(name).get("case_weight_var") or None for name in ("people.sav", "copy.sav")]
weighted = float((read["smokes"] * read["people"]).sum() / read["people"].sum())
print("pyreadstat", version("pyreadstat"), "metadata about a weight:", words)
print("pyspssio", version("pyspssio"), "weight of the file and of the copy:", weights)
print("share by the weight:", weighted, "mean in pandas:", round(float(read["smokes"].mean()), 2))
raise SystemExit(bool(words) or weights != ["people", None] or weighted != 0.8)
END
