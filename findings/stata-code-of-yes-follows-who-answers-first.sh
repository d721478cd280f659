#!/bin/sh
# The same answers in two orders: a categorical column of polars 2.1.0, written to .dta by pandas 3.1.1, read with codes.
# Expected: Yes has one code in both files.
# Seen: Yes is 0 where the first person said yes, and 1 where the first person said no.
# It matters where the waves of a study are joined by codes, or "mean of cheated" is taken for the share of yes.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check \
    "polars==2.1.0" "pandas==3.1.1" "pyarrow==26.0.1" "pyreadstat==1.3.7" "numpy==2.4.6"
cat > seen.py <<'PROGRAM'
from importlib.metadata import version

import polars
import pyreadstat

print(*(f"{name} {version(name)}" for name in ("polars", "pandas", "pyreadstat")))
means = []
for number, answers in enumerate((["Yes", "No", "No", "No"], ["No", "Yes", "No", "No"]), 1):
    column = polars.Series("cheated", answers, dtype=polars.Categorical)
    polars.DataFrame([column]).to_pandas().to_stata(f"wave{number}.dta", write_index=False)
    codes, told = pyreadstat.read_dta(f"wave{number}.dta")
    means.append(float(codes["cheated"].mean()))
    print(f"wave {number}:", answers, "mean of codes", means[-1], "labels", told.variable_value_labels["cheated"])
assert means == [0.75, 0.25]
print("One of four said yes in both waves; the codes say 75 % and 25 %.")
PROGRAM
env/bin/python seen.py
