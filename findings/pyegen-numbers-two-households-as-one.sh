#!/bin/sh
# Expected of egen's group() for pandas: people of one household have one number, and of different households different ones, also
# where people who declined have been left out before.
# Seen: pyegen numbers the rows anew, from 0, so that in a column of the table each person has the number of a later row. Two
# households get one number, one household gets two, and the last person none. No error, no warning.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pyegen==0.2.4 pandas==2.3.3 numpy==2.2.6
env/bin/python - <<'END'
from importlib.metadata import version

import pandas
import pyegen

people = pandas.DataFrame({"household": ["a", "a", "b", "b", "c"], "declined": [True, False, False, False, False]})
whole = pyegen.group(people, ["household"]).tolist()
rest = people[~people["declined"]].copy()
rest["number"] = pyegen.group(rest, ["household"])
numbers = [None if number != number else number for number in rest["number"]]
print("pyegen", version("pyegen"))
print("households", people["household"].tolist(), "->", whole)
print("without the first person", rest["household"].tolist(), "->", numbers)
raise SystemExit(whole != [1, 1, 2, 2, 3] or numbers != [2, 2, 3, None])
END
