#!/bin/sh
# panel4all 1.0.0 reads the results of a poll whose question Q1 has two boxes (Q1_1, Q1_2) and whose question Q10 has two
# others (Q10_1, Q10_2), and gives the ticks of a person in Q1.
# Expected: the ticked boxes of Q1: alcohol.
# Seen: all codes that begin with "Q1" are taken for its parts, so that the ticks of Q10 are in it: alcohol, police.
# It matters in every questionnaire of ten questions or more: nine of them gain the answers of others.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check "panel4all==1.0.0" "pandas==2.3.3" "numpy==2.2.6"
cat > seen.py <<'PROGRAM'
from importlib.metadata import version

import pandas as pd
from panel4all import PollResults

labels = {"Q1_1": "alcohol", "Q1_2": "cannabis", "Q2_1": "at home", "Q10_1": "police", "Q10_2": "doctor"}
codes = list(labels)
poll = PollResults().initialize_from_dataframes(
    variable_information_table=pd.DataFrame({"Variable": codes, "Label": labels.values()}),
    variable_values_table=pd.DataFrame({"question": codes, "code": 1, "label": "ticked"}),
    results_closed_questions=pd.DataFrame([[7, 1, 0, 1, 1, 0]], columns=["id", *codes]),
    results_open_questions=pd.DataFrame({"user_ID": [7]}),
)
print("panel4all", version("panel4all"))
print("ticked: ", {labels[code]: int(poll.results_closed_questions.loc[0, code]) for code in codes})
print("of Q1:  ", sorted(poll.get_voter_answer_approval("Q1")))
print("of Q2:  ", sorted(poll.get_voter_answer_approval("Q2")))
assert poll.get_voter_answer_approval("Q2") == {"at home"}
assert poll.get_voter_answer_approval("Q1") == {"alcohol", "police"}
print("The ticks of question 10 are among those of question 1.")
PROGRAM
env/bin/python seen.py
