#!/bin/sh
# Expected of a summary of incomes written as text, such as "1,200": 1200, or a value that could not be read.
# Seen: the first number in the text counts, so 1,200 is 1, and the mean of 1,200, 900, 1,500 and 800 is 425.5 and not 1100. The
# message says that the column was converted, and counts no value as lost. "18-24" is 18 in the same way.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check ezrsurvey==0.7.0 pandas==2.3.3 numpy==2.2.6
env/bin/python -W ignore - <<'END'
import contextlib
import io
from importlib.metadata import version

import ezrsurvey
import pandas

table = pandas.DataFrame({"income": ["1,200", "900", "1,500", "800"]})
said = io.StringIO()
with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
    mean = float(ezrsurvey.calc_summary(table, "income")["mean"].iloc[0])
print("ezrsurvey", version("ezrsurvey"), "mean of", table["income"].tolist(), "is", mean)
print("it says:", said.getvalue().strip())
raise SystemExit(mean != 425.5 or "could not" in said.getvalue())
END
