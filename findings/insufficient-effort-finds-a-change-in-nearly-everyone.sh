#!/bin/sh
# Expected of a test that finds where a person begins to answer carelessly: of people who answer in one way from the first question
# to the last, it finds about 5 of 100, at the critical value of 95 %.
# Seen: it finds nearly all, both of people who answer each item by their opinion, with small errors, and of people who answer every
# item at random. Deviations of ten items each overlap, so that neighbours are alike, and the test takes them for independent.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check insufficient-effort==1.13.1 numpy==2.0.2
env/bin/python - <<'END'
from importlib.metadata import version

import numpy
from ier import onset_flag

rng = numpy.random.default_rng(1)
people, items = 1000, 60
opinion, item = rng.normal(size=(people, 1)), rng.normal(scale=0.5, size=(1, items))
careful = numpy.clip(numpy.round(3 + opinion + item + rng.normal(scale=0.7, size=(people, items))), 1, 5)
shares = {"by opinion throughout": onset_flag(careful).mean()}
shares["at random throughout"] = onset_flag(rng.integers(1, 6, (people, items))).mean()
print("insufficient-effort", version("insufficient-effort"))
for kind, share in shares.items():
    print(f"{people} people who answer {items} items {kind}: {share:.1%} begin to be careless on the way")
raise SystemExit(bool(min(shares.values()) < 0.95))
END
