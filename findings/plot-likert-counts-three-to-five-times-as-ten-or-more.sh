#!/bin/sh
# Expected of replacing answers coded 1 to 5 by their words: each code becomes its own word.
# Seen: plot-likert goes through the codes one after the other and replaces a text that holds the code's digit, also where that digit
# stands in a word it has just put there. Code 3, "3-5 times", holds a 5 and becomes "10 or more"; on a scale of 0 to 10 the code 10
# holds a 0 and becomes the lowest answer. No error, no warning.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check plot-likert==0.5.0 pandas==2.3.3 numpy==2.2.6 matplotlib==3.10.7
env/bin/python -W ignore - <<'END'
from importlib.metadata import version

import pandas
import plot_likert

scale = ["no answer", "never", "1-2 times", "3-5 times", "6-9 times", "10 or more"]
people = pandas.DataFrame({"cheated": ["1"] * 40 + ["2"] * 25 + ["3"] * 20 + ["4"] * 10 + ["5"] * 5})
counts = plot_likert.likert_counts(plot_likert.likert_response(people, scale), scale).loc["cheated"].astype(int).to_dict()
ladder = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
top = plot_likert.likert_response(pandas.DataFrame({"trust": ["10", "9"]}), ladder)["trust"].tolist()
print("plot-likert", version("plot-likert"))
print("codes 1 to 5, held by 40, 25, 20, 10 and 5 people ->", counts)
print("codes 10 and 9 of 0 to 10 ->", top)
expected = dict(zip(scale, [0, 40, 25, 0, 10, 25]))
raise SystemExit(counts != expected or top != ["none", "nine"])
END
