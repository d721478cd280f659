#!/bin/sh
# Expected of process_and_save with user_variable_rename, "metadata management: full support for SPSS labels": a question has its own words
# for its codes under its new name, as after RENAME VARIABLES in SPSS.
# Seen: data are renamed, labels are not. Where q1 becomes q2 and q2 becomes q1, the 30 people who said "yes, cheated" are 30 who are very
# satisfied, and the question of satisfaction is answered by "no". A question with a name that is new has no words at all.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check tidyspss==0.2.0 pyreadstat==1.3.7 pandas==2.3.3 numpy==2.2.6
env/bin/python - <<'END'
from importlib.metadata import version

import pandas
import pyreadstat
from tidyspss import process_and_save, read_input_file

people = pandas.DataFrame({"q1": [1.0] * 30 + [2.0] * 70, "q2": [2.0] * 100, "q3": [1.0] * 100})
cheated, satisfied = {1.0: "yes, cheated", 2.0: "no"}, {1.0: "very satisfied", 2.0: "satisfied"}
pyreadstat.write_sav(people, "wave.sav", variable_value_labels={"q1": cheated, "q2": satisfied, "q3": cheated})


def counts(path):
    """Return how many people gave each answer, in words."""
    frame, _ = pyreadstat.read_sav(path, apply_value_formats=True)
    return {name: {str(word): int(number) for word, number in frame[name].value_counts().items()} for name in frame}


process_and_save(*read_input_file("wave.sav"), "renamed.sav", user_variable_rename={"q1": "q2", "q2": "q1", "q3": "q9"})
seen = counts("renamed.sav")
print("tidyspss", version("tidyspss"), "pyreadstat", version("pyreadstat"))
print("before:", counts("wave.sav"), "with q1 and q2 changed, and q3 as q9:", seen)
wrong = {"q2": {"satisfied": 70, "very satisfied": 30}, "q1": {"no": 100}, "q9": {"1.0": 100}}
raise SystemExit(seen != wrong)
END
