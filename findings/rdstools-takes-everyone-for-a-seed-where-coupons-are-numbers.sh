#!/bin/sh
# Expected of a reader of respondent-driven samples: who brings coupon 101 was recruited by the person who was given coupon 101.
# Seen: read from a CSV file by pandas, the coupons that people brought are decimals, since those who began brought none, and the coupons
# that they were given are whole numbers. They are compared as texts, "101.0" and "101", so that nobody was recruited: all 63 people of
# five waves are seeds of wave 0, and no coupon was used. The same numbers with a letter before them give the five waves.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check rdstools==0.1.13 pandas==2.3.3 numpy==2.2.6
MPLCONFIGDIR="$folder" env/bin/python - <<'END'
import io
from importlib.metadata import version

import pandas
from RDSTools import RDSdata


def sample(letter):
    rows = [f"{person},{f'{letter}{100 + person}' if person > 1 else ''},{letter}{100 + 2 * person},{letter}{101 + 2 * person},5"
            for person in range(1, 64)]
    table = pandas.read_csv(io.StringIO("\n".join(["person,brought,first,second,friends", *rows])))
    return RDSdata(table, "person", "brought", ["first", "second"], "friends")


seen = []
for letter in ("", "c"):
    people = sample(letter)
    seen.append((int(people["SEED"].sum()), int(people["WAVE"].max()), int(people["CP_USED"].sum())))
print("RDSTools", version("RDSTools"), "pandas", version("pandas"))
print("seeds, last wave, coupons used: with numbers", *seen[0], "; with a letter before them", *seen[1])
raise SystemExit(seen != [(63, 0, 0), (1, 5, 62)])
END
