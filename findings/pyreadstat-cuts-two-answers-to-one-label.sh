#!/bin/sh
# pyreadstat 1.3.7 writes a .sav with two answers whose labels differ after 120 bytes, 40 Chinese letters; pandas opens it.
# Expected: two answers, or an error or warning from the writer.
# Seen: both labels are cut to the same 120 bytes without a word, and the two answers become one category.
# It matters for long answers of an attitude scale, and in scripts where a letter takes three bytes.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check "pyreadstat==1.3.7" "pandas==3.1.1" "numpy==2.4.6"
cat > seen.py <<'PROGRAM'
import warnings
from importlib.metadata import version

import pandas
import pyreadstat

warnings.simplefilter("error", UserWarning)
labels = {1: "是" * 40 + "一", 2: "是" * 40 + "二"}
answers = pandas.DataFrame({"reason": [1, 1, 1, 2]})
pyreadstat.write_sav(answers, "reports.sav", variable_value_labels={"reason": labels})
opened = pandas.read_spss("reports.sav")["reason"]
counts = opened.value_counts().to_dict()
print("pyreadstat", version("pyreadstat"), "pandas", version("pandas"))
print("written: 3 and 1 people; opened:", {f"{len(label)} letters": count for label, count in counts.items()})
assert list(counts.values()) == [4]
print("Two answers are one category of four people.")
PROGRAM
env/bin/python seen.py
