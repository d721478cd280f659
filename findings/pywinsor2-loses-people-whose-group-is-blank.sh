#!/bin/sh
# Expected of a function that pulls in the extremes of a column, as Stata's winsor2 does: it returns the table of everyone, with one
# column more; who has no group, or no answer, stays in it.
# Seen: with by="school", people who left the school blank are deleted from the table with all their answers, and nothing says so: of
# 100 people 20 are gone, and the share of yes to another question falls from 36 % to 20 %. Without by= all stay.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pywinsor2==0.4.3 pandas==2.3.3 numpy==2.2.6
env/bin/python - > seen 2> said <<'END'
from importlib.metadata import version

import pandas
from pywinsor2 import winsor2

people = pandas.DataFrame(
    {
        "hours": range(100),
        "school": ["a"] * 40 + ["b"] * 40 + [None] * 20,
        "cheated": [1] * 8 + [0] * 32 + [1] * 8 + [0] * 32 + [1] * 20,
    }
)
print("pywinsor2", version("pywinsor2"), "people, share of yes:", len(people), people["cheated"].mean())
seen = [(len(table), table["cheated"].mean()) for table in (winsor2(people, "hours"), winsor2(people, "hours", by="school"))]
print("without by=:", *seen[0], "; with by=:", *seen[1])
raise SystemExit(seen != [(100, 0.36), (80, 0.2)])
END
cat seen
echo "said: $(cat said)"
test ! -s said
