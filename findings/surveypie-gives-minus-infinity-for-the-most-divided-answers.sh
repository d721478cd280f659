#!/bin/sh
# Expected of Apouey's index of polarisation (2007), 1 - 2^a / (K - 1) * sum |F_k - 1/2|^a: 0 where all give one answer and 1 where half
# give the lowest and half the highest. By the a of the package, (ln 4 - ln 3) / ln 2 = .42 for K = 4, equal shares have .5.
# Seen: for four answers a bracket is in the wrong place, and a is ln 4 - ln 3 / ln 2 = -.20. Half and half have minus infinity, equal
# shares too, and 49 with 51 of 100 have less than people who all agree. For three and five answers the index is as expected.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check surveypie==0.0.1 pandas==2.3.3 numpy==1.26.4 scipy==1.15.3 pydantic==2.12.5
env/bin/python -W ignore - <<'END'
from importlib.metadata import version

from surveypie.apouey_index import get_apouey_index

print("surveypie", version("surveypie"))
seen = {}
for answers in (3, 4, 5):
    people = {
        "all agree": [2] * 100,
        "half and half": [1] * 50 + [answers] * 50,
        "49 and 51": [1] * 49 + [answers] * 51,
        "equal shares": list(range(1, answers + 1)) * 25,
    }
    seen[answers] = [round(float(get_apouey_index(list(range(1, answers + 1)), given)), 2) for given in people.values()]
    print(answers, "answers:", dict(zip(people, seen[answers])))
least = float("-inf")
raise SystemExit(seen[4] != [0.0, least, -1.19, least] or seen[3][:2] != [0.0, 1.0] or seen[5][:2] != [0.0, 1.0])
END
