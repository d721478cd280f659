#!/bin/sh
# Expected of the tree of a range mechanism: with a large budget the people of each interval, whichever protocol reports them.
# Seen: with local hashing the first interval of each level has about nobody. The tree numbers intervals from 0, and pure-ldp, which it
# uses, answers from 1, so that the first one is hashed as -1, which its server never asks about. Of 1,000 people of whom 400 answered 0,
# it has about none, and about 600 in the others; with direct encoding 400.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check LDP-hierarchical-mechanism==0.1.3 pure-ldp==1.2.0 xxhash==3.5.0 numpy==2.2.6 scipy==1.15.3 pandas==2.3.3 tqdm==4.67.1
env/bin/python -W ignore - <<'END'
from importlib.metadata import version

import numpy
from hierarchical_mechanism_LDP import Private_TreeBary

PEOPLE = [400, 100, 100, 100, 100, 100, 50, 50]
answers = numpy.repeat(numpy.arange(8), PEOPLE)
print("LDP-hierarchical-mechanism", version("LDP-hierarchical-mechanism"), "pure-ldp", version("pure-ldp"), "people:", PEOPLE)
lowest = []
for protocol in ("local_hashing", "direct_encoding"):
    numpy.random.seed(1)
    tree = Private_TreeBary(B=8, b=2, eps=6.0, protocol=protocol)
    tree.update_tree(answers)
    tree.compute_attributes()
    halves, leaves = tree.attributes[1], tree.attributes[-1]
    print(f"{protocol}: lower half {halves[0]:.0f}, upper half {halves[1]:.0f}; answers", [round(float(leaf)) for leaf in leaves])
    lowest.append((abs(float(leaves[0])) < 60, abs(float(halves[0])) < 60, abs(float(leaves[0]) - 400) < 60))
raise SystemExit(lowest != [(True, True, False), (False, False, True)])
END
