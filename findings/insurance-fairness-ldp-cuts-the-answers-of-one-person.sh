#!/bin/sh
# insurance-fairness-ldp 0.1.1: k-ary randomized response over no, yes, refused, for one person who says no.
# Expected: one of the three answers.
# Seen: answers cut to two letters ("ye", "re"), since the array of reports is as wide as the longest true answer.
# It matters where each device sends one report: "ye" and "re" are no categories, and are lost when reports are counted.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check "insurance-fairness-ldp==0.1.1"
cat > seen.py <<'PROGRAM'
from collections import Counter
from importlib.metadata import version

from insurance_fairness_ldp import KaryRandomisedResponse

channel = KaryRandomisedResponse(1.0, ["no", "yes", "refused"])
reports = Counter(str(channel.privatise(["no"], random_state=seed)[0]) for seed in range(300))
print("insurance-fairness-ldp", version("insurance-fairness-ldp"))
print(dict(reports))
assert set(reports) == {"no", "ye", "re"}
print("Reports of one person are cut to the length of the true answer.")
PROGRAM
env/bin/python seen.py
