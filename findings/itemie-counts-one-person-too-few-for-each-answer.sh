#!/bin/sh
# Expected of the counts of answers in words: as many as gave each of them, and together as many as answered.
# Seen: itemie's PhraseCount begins to count at 0 with the first person who gives an answer, so that each one is a person short. What
# one person alone said was said by nobody. Where the answers are named beforehand, the counts are right.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check itemie==0.0.5 pandas==2.3.3 numpy==2.2.6
env/bin/python - <<'END'
from importlib.metadata import version

import pandas
from itemie.core.item import PhraseCount

people = pandas.DataFrame({"why": ["no time"] * 6 + ["fear"] * 2 + ["a threat"]})
right = people["why"].value_counts().to_dict()
counts = []
for names in (None, sorted(right)):
    item = PhraseCount("reason", "why", seq=names)
    item.transform(people)
    counts.append(dict(item.counts))
print("itemie", version("itemie"), "people:", right)
print("counted:", counts[0], "; with the answers named beforehand:", counts[1])
raise SystemExit(counts != [{"a threat": 0, "fear": 1, "no time": 5}, {"a threat": 1, "fear": 2, "no time": 6}])
END
