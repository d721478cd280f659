#!/bin/sh
# Expected of the risk of each person, by the package's own page: the file's risk (.1) times the person's share of all scores. Whoever is
# not unique has 0, all others more, and the risks of all people add up to .1.
# Seen: the scores are right, and the risk of everybody is 0. It is written where a column of the first table is above 0, which the
# program has just filled with 0. The page shows .0207 for the person with score 12.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check suda==0.2.2 pandas==2.3.3 numpy==2.2.6
env/bin/python -W ignore::FutureWarning - <<'END'
from importlib.metadata import version

import pandas
from suda import suda

COLUMNS = ["gender", "region", "school", "work"]
people = [("woman", "town", "secondary", "job")] * 3 + [("man", "town", "college", "job")] * 3
people += [("woman", "town", "primary", "none"), ("man", "village", "college", "none")]
table = suda(pandas.DataFrame(people, columns=COLUMNS), max_msu=2, dis=0.1)
expected = 0.1 * table["suda"] / table["suda"].sum()
print("suda", version("suda"))
print(pandas.DataFrame({"score": table["suda"], "risk": table["dis-suda"], "expected risk": expected.round(4)}).to_string())
alone = table["suda"] > 0
raise SystemExit(int(alone.sum()) != 2 or bool((table["dis-suda"] != 0).any()) or bool((expected[alone] < 0.04).any()))
END
