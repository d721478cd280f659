#!/bin/sh
# Expected of a weighted kappa: it does not change when 1 is taken off every answer, since only distances count. And two raters who both
# left a cell blank agree on nothing there.
# Seen: answers are put in the order of their texts, so that 10 follows 1. Where two raters take 9 and 10 for each other on half of
# their items, and agree on 1 and 2, kappa with squared distances is .20; with 0 to 9 it is .80, with the distances themselves .98. In the
# report of the program, Fleiss' kappa rises from 0 to .5 by items that nobody rated: a blank is a category.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check iaa-kit==0.1.2 numpy==2.2.6
env/bin/python - <<'END'
from importlib.metadata import version

from iaa_kit.cli import analyze
from iaa_kit.cohen import weighted_kappa

first, second = [9, 10] * 10 + [1, 2] * 10, [10, 9] * 10 + [1, 2] * 10
pairs = [*zip(first, second, strict=True)]
apart = sum((one - other) ** 2 for one, other in pairs) / len(pairs)
by_chance = sum((one - other) ** 2 for one in first for other in second) / len(pairs) ** 2
kappas = [
    round(weighted_kappa([one - less for one in first], [other - less for other in second], "quadratic"), 3) for less in (0, 1)
]
by_hand = round(1 - apart / by_chance, 3)
rated = [[1, 1], [2, 2], [1, 2], [2, 1]] * 5
fleiss = [analyze(items, bootstrap_samples=20)["metrics"]["fleiss_kappa"]["value"] for items in (rated, rated + [[None, None]] * 10)]
print("iaa-kit", version("iaa-kit"), "answers 1 to 10, 0 to 9, and by hand:", *kappas, by_hand)
print("Fleiss' kappa of 20 items, and with 10 that both left blank:", *fleiss)
raise SystemExit((kappas, by_hand, fleiss) != ([0.2, 0.8], 0.985, [0.0, 0.5]))
END
