#!/bin/sh
# ipfn 1.4.4 rakes a table to people by sex (1,000 in all) and to shares by age (1 in all).
# Expected: totals that differ are an error, or a warning.
# Seen: it says that it converged; the last margin decides, and the table adds up to 1.
# It matters where one margin of a population is in people and another in per cent.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check "ipfn==1.4.4" "pandas==2.3.3" "numpy==2.2.6"
cat > seen.py <<'PROGRAM'
import contextlib
import io
from importlib.metadata import version

import pandas as pd
from ipfn import ipfn

table = pd.DataFrame({"sex": list("mmff"), "age": list("yoyo"), "total": [10.0, 20.0, 30.0, 40.0]})
sex, age = (table.groupby(name)["total"].sum() for name in ("sex", "age"))
sex["m"], sex["f"] = 500.0, 500.0
age["y"], age["o"] = 0.3, 0.7
said = io.StringIO()
with contextlib.redirect_stdout(said):
    raked = ipfn.ipfn(table.copy(), [sex, age], [["sex"], ["age"]]).iteration()
print("ipfn", version("ipfn"), "says:", said.getvalue().strip())
by_sex = raked.groupby("sex")["total"].sum()
print("asked for 500 and 500 people by sex; given", by_sex.round(3).to_dict())
assert "converged" in said.getvalue()
assert abs(by_sex.sum() - 1) < 1e-6
print("Margins with different totals are taken without a word; the last one decides.")
PROGRAM
env/bin/python seen.py
