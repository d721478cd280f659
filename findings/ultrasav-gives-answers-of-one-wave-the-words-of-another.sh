#!/bin/sh
# Expected of two waves put together, where 1 is "yes" in the first file and "no" in the second: every answer keeps its words, or an
# error or a warning names the question.
# Seen: the labels of the first file hold for both, so that the two people who said yes in the second wave have said no, and the one
# who said no has said yes. No error, no warning, and each row still names its file.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check ultrasav==0.2.9 pyreadstat==1.3.7 pandas==2.3.3 numpy==2.2.6 polars==1.44.2 pyarrow==21.0.0
env/bin/python -W error::UserWarning - <<'END'
from importlib.metadata import version

import pandas
import pyreadstat
import ultrasav

waves = {"spring.sav": ([1, 1, 2], {1: "yes", 2: "no"}), "autumn.sav": ([1, 2, 2], {1: "no", 2: "yes"})}
for name, (codes, words) in waves.items():
    table = pandas.DataFrame({"cheated": [float(code) for code in codes]})
    pyreadstat.write_sav(table, name, variable_value_labels={"cheated": words})
together, metadata = ultrasav.add_cases(list(waves))
ultrasav.write_sav(together, metadata, "both.sav")
seen, _ = pyreadstat.read_sav("both.sav", apply_value_formats=True)
print("ultrasav", version("ultrasav"), "pyreadstat", version("pyreadstat"))
for name, (codes, words) in waves.items():
    print(name, "said:", [words[code] for code in codes], "; both.sav:", seen["cheated"][seen["mrgsrc"] == name].tolist())
raise SystemExit(seen["cheated"].tolist() != ["yes", "yes", "no", "yes", "no", "no"])
END
