#!/bin/sh
# Expected of t-closeness with categories: the distance between the shares in a group and in all, which is at most 1. For two groups of
# 52 % and 48 % yes it is .02. And an entropy of two questions is that of the less varied one, 2 for yes and no by halves.
# Seen: each answer is added as often as it is given, so that the distance grows with the file: 50 for 200 people, where it is .5, and 1
# for those .02. Data are called, and made, as unsafe as the file is long: with t = .2 all ages become one. Entropies of two questions
# are multiplied: two that are the same are 4.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check anonymity-api==1.0.4 pandas==2.3.3 numpy==2.2.6
env/bin/python - <<'END'
from importlib.metadata import version

import pandas
from anonymity_api import anonymity, verify


def distance(people):
    """By hand: half of the sum of differences of shares, in the group where it is largest."""
    everyone = people["ill"].value_counts(normalize=True)
    groups = people.groupby("age")["ill"].value_counts(normalize=True).unstack(fill_value=0)
    return round(float((groups - everyone).abs().sum(axis=1).max() / 2), 3)


apart = [pandas.DataFrame({"age": [20, 40] * half, "ill": ["yes", "no"] * half}) for half in (1, 10, 100)]
near = pandas.DataFrame({"age": [20] * 50 + [40] * 50, "ill": ["yes"] * 26 + ["no"] * 24 + ["yes"] * 24 + ["no"] * 26})
found = {len(people): round(float(verify.t_closeness(people, ["age"], ["ill"])), 3) for people in [*apart, near]}
by_hand = {len(people): distance(people) for people in [*apart, near]}
ages = anonymity.t_closeness(near.copy(), ["age"], ["ill"], 0.2)["age"].unique().tolist()
twice = apart[2].assign(age=30, again=apart[2]["ill"])
entropy = round(float(verify.entropy_l_diversity(twice, ["age"], ["ill", "again"])), 3)
print("anonymity-api", version("anonymity-api"), "distances by number of people:", found, "by hand:", by_hand)
print("ages of 100 people with a distance of .02, made closer than .2:", ages, "; entropy of one question asked twice:", entropy)
expected = {2: 0.5, 20: 0.5, 200: 0.5, 100: 0.02}
raise SystemExit((found, by_hand, ages, entropy) != ({2: 0.5, 20: 5.0, 200: 50.0, 100: 1.0}, expected, ["20 - 40"], 4.0))
END
