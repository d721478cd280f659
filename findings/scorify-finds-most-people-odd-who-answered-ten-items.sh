#!/bin/sh
# Expected of the p-value that scorify prints beside each participant's Mahalanobis distance: under .05 for about 5 % of people whose
# ten answers follow no pattern, with as many degrees of freedom as items.
# Seen: it takes three degrees of freedom, however many items there are: about 150 of 200 people look careless, and who leaves such people
# out leaves out three of four.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check scorify==2024.7.19 pandas==2.3.3 numpy==2.2.6 scipy==1.15.3
env/bin/python - <<'END'
import random

draws = random.Random(3)
items = [f"q{number}" for number in range(1, 11)]
people = [[str(person), *(str(draws.randint(1, 5)) for _ in items)] for person in range(1, 201)]
sheet = ["layout,header", "layout,data", "score,id", *(f"score,{item},scale" for item in items), "measure,mean_of_scale,mean(scale)"]
with open("answers.csv", "w") as file:
    file.write("\n".join([",".join(row) for row in [["id", *items], *people]]) + "\n")
with open("sheet.csv", "w") as file:
    file.write("\n".join(sheet) + "\n")
END
env/bin/reliability sheet.csv answers.csv > seen.txt 2> warnings.txt
env/bin/python - <<'END'
from importlib.metadata import version
from pathlib import Path

from scipy.stats import chi2

rows = [line.split() for line in Path("seen.txt").read_text().splitlines()]
people = [(float(row[2]), float(row[3])) for row in rows if len(row) == 4 and row[1] == "scale"]
odd = sum(p < 0.05 for _, p in people)
right = sum(chi2.sf(distance, 10) < 0.05 for distance, _ in people)
print("scorify", version("scorify"))
print("people:", len(people), "with p under .05:", odd, "with ten degrees of freedom:", right)
raise SystemExit(len(people) != 200 or odd < 140 or right > 25 or any(abs(chi2.sf(d, 3) - p) > 1e-3 for d, p in people))
END
