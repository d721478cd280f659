#!/bin/sh
# Expected of scale(..., na=True), which includes people with missing answers if four of five are there: the mean or the sum of the answers
# that were given. map_answers gives "Prefer Not To Answer" as -996, and scale leaves such codes out where it counts answers.
# Seen: it adds them where it takes the sum and the mean. Four times "often" (4) of a scale from 1 to 4, and one refusal, have the mean -196
# and the sum -980; who skipped that question has 4 and 16. Nothing is said but the lowest score of all.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check omop2survey==0.1.1 pandas==2.3.3 numpy==2.4.6 pandas-gbq==0.33.0
env/bin/python -W ignore - <<'END'
from importlib.metadata import version

import omop2survey
import pandas

LONELY = [40192501, 40192507, 40192398, 40192494, 40192397]
OFTEN, DECLINED = 40192482, 903079
answers = {"all answered": [OFTEN] * 5, "declined the last": [OFTEN] * 4 + [DECLINED], "skipped the last": [OFTEN] * 4}
rows = [
    {"person_id": person, "question_concept_id": question, "answer_concept_id": answer, "answer": ""}
    for person, given in answers.items()
    for question, answer in zip(LONELY, given, strict=False)
]
mapped = omop2survey.map_answers(pandas.DataFrame(rows))
wide = mapped.pivot(index="person_id", columns="question_concept_id", values="answer_numeric").astype(float).reset_index()
seen = {}
for method in ("mean", "sum"):
    scored = omop2survey.scale(wide, LONELY, "score", na=True, method=method)
    seen[method] = [float(scored.set_index("person_id").loc[person, "score"]) for person in answers]
print("omop2survey", version("omop2survey"), "pandas", version("pandas"))
print(list(answers), seen)
raise SystemExit(seen != {"mean": [4.0, -196.0, 4.0], "sum": [20.0, -980.0, 16.0]})
END
