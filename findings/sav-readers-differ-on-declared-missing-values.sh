#!/bin/sh
# Expected of two readers of one .sav whose file declares 99 "do not know" as missing: the same answers.
# Seen: one leaves 99 out, the other gives it as an answer, so that the mean of 0, 1, 1, 99 is 2/3 or 25.25.
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

table = pandas.DataFrame({"smokes": [0.0, 1.0, 1.0, 99.0]})
pyreadstat.write_sav(table, "people.sav", missing_ranges={"smokes": [99]})
seen = [float(read("people.sav")[0]["smokes"].mean()) for read in (pyreadstat.read_sav, pyspssio.read_sav)]
print("pyreadstat", version("pyreadstat"), "pyspssio", version("pyspssio"))
print("mean of 0, 1, 1 and a declared 99:", seen)
raise SystemExit([round(mean, 2) for mean in seen] != [0.67, 25.25])
END
