#!/bin/sh
# Expected of read_spss of siamang, whose SPSS files "round-trip labels and missing values": codes that the file declares missing are blanks
# after apply_missing_values, whether they are declared one by one, 97, 98 and 99, or as SPSS's range 97 THRU 99.
# Seen: ranges are passed over. "Don't know" and "refused" are answers of 97 and 98 days, and the mean of 2.5 days becomes 43.4. A range
# of all negative numbers is passed over, too, read_snapshot does the same, and a copy that is written has no range any more.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check siamang==0.6.5 pyreadstat==1.3.7 pandas==2.3.3 numpy==2.4.6 scipy==1.17.1
env/bin/python - <<'END'
from importlib.metadata import version

import pandas
import pyreadstat
from siamang.io import read_snapshot, read_spss
from siamang.io.spss import SPSSWriter

days = [1.0, 2.0, 3.0, 4.0, 97.0, 98.0, 99.0]
people = pandas.DataFrame({"one_by_one": days, "thru": days, "negative": [1.0, 2.0, 3.0, 4.0, -9.0, -8.0, -7.0]})
names = ["one_by_one", "thru", "negative"]
ranges = {"one_by_one": [97, 98, 99], "thru": [{"lo": 97, "hi": 99}], "negative": [{"lo": -1000, "hi": -1}]}
pyreadstat.write_sav(people, "days.sav", missing_ranges=ranges)
plain, _ = pyreadstat.read_sav("days.sav")
print("siamang", version("siamang"), "pyreadstat", version("pyreadstat"))
print("means without missing codes:", plain.mean().to_dict())
seen = []
for read in (read_spss, read_snapshot):
    data = read("days.sav").apply_missing_values()
    seen.append([round(float(data.frame[name].mean()), 1) for name in names])
    print(read.__name__, dict(zip(names, seen[-1], strict=True)))
SPSSWriter().write(read_spss("days.sav"), "copy.sav")
_, meta = pyreadstat.read_sav("copy.sav", user_missing=True)
print("declared in a copy:", meta.missing_ranges)
wrong = seen != [[2.5, 43.4, -2.0]] * 2 or set(meta.missing_ranges) != {"one_by_one"}
raise SystemExit(wrong or plain.mean().tolist() != [2.5, 2.5, 2.5])
END
