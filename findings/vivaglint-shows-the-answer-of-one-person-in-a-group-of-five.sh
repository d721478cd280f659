#!/bin/sh
# Expected of a smallest size of groups, five as it comes: a figure that fewer than five people stand behind is not shown.
# Seen: those are counted who were asked, not those who answered. Of a team of five one person answered, and their answer is printed
# as the mean of the team, with n_responses 1; a team of four who all answered is left out.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check vivaglint==0.1.0 pandas==2.3.3 numpy==2.2.6
env/bin/python -W ignore - <<'END'
from importlib.metadata import version

import pandas
from vivaglint.analyze import analyze_by_attributes

QUESTION = "I intend to stay"
answers = {"north": [None, None, None, None, 1], "south": [4, 5, 3, 4, 5], "west": [4, 4, 5, 2]}
people = pandas.DataFrame([(team, answer) for team, given in answers.items() for answer in given], columns=["Team", QUESTION])
people["ID"] = range(len(people))
for name in ("First Name", "Last Name", "Email", "Status", "Manager ID"):
    people[name] = "x"
people["Survey Cycle Completion Date"] = people["Survey Cycle Sent Date"] = "2026-05-04"
for name in ("_COMMENT", "_COMMENT_TOPICS", "_SENSITIVE_COMMENT_FLAG"):
    people[QUESTION + name] = None
table = analyze_by_attributes(people, scale_points=5, attribute_cols="Team", emp_id_col="ID")
print("vivaglint", version("vivaglint"))
print(table[["Team", "group_size", "n_responses", "mean", "pct_unfavorable"]].to_string(index=False))
raise SystemExit(table[["Team", "n_responses", "mean"]].values.tolist() != [["north", 1, 1.0], ["south", 5, 4.2]])
END
