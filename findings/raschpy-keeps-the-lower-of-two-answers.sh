#!/bin/sh
# Expected of a reader of long data, one row for an answer of a person to an item: two answers to one item are an error, or named.
# Seen: the lower one is kept, whatever the order, and nothing is said. Of two waves in one file, a person keeps yes only if it
# was said twice, so that every item looks harder than in either wave.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check raschpy==1.4.0 pandas==2.3.3 numpy==2.2.6
env/bin/python -W ignore - <<'END'
import contextlib
import io
from importlib.metadata import version

import pandas
import raschpy

first, second = {"ann": 1, "bob": 0, "cem": 1, "dana": 0}, {"ann": 0, "bob": 1, "cem": 1, "dana": 1}
rows = [(person, "cheated", wave[person]) for wave in (first, second) for person in wave]
pandas.DataFrame(rows, columns=["Person", "Item", "Score"]).to_csv("long.csv", index=False)
said = io.StringIO()
with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
    kept, left_out = raschpy.loadup_slm("long.csv", long=True)
means = [sum(wave.values()) / len(wave) for wave in (first, second)]
print("raschpy", version("raschpy"), "kept:", kept["cheated"].to_dict(), "left out:", len(left_out))
print("share of yes in the waves:", means, "in what is kept:", float(kept["cheated"].mean()))
raise SystemExit(kept["cheated"].to_dict() != {"ann": 0, "bob": 0, "cem": 1, "dana": 0} or bool(said.getvalue()))
END
