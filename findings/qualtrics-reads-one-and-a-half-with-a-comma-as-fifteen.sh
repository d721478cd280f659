#!/bin/sh
# qualtrics 0.4.2, a reader of Qualtrics' exports, reads a slider of drinks a day. Qualtrics' export has the option "use
# commas for decimals", which is on here, so that one and a half is 1,5.
# Expected: 1.5, or a text.
# Seen: commas are taken out of numbers: 15, 5 and 1.2345 for 1,5, 0,5 and 1.234,5, as numbers and without a warning.
# It matters wherever an export was made in a language that writes decimals so: the mean is ten times too high.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check "qualtrics==0.4.2"
cat > seen.py <<'PROGRAM'
import csv
import json
from importlib.metadata import version
from pathlib import Path

from qualtrics import parse_survey

written = ["1,5", "0,5", "1.234,5"]
heads = ["ResponseId", "Q1_1"], ["Response ID", "Drinks a day"]
names = ['{"ImportId":"_recordId"}', '{"ImportId":"QID1_1"}']
with Path("answers.csv").open("w", encoding="utf-8", newline="") as file:
    csv.writer(file).writerows([*heads, names, *([f"R_{n}", text] for n, text in enumerate(written))])
slider = {
    "QuestionID": "QID1",
    "QuestionText": "Drinks a day",
    "DataExportTag": "Q1",
    "QuestionType": "Slider",
    "Selector": "HSLIDER",
    "Choices": {"1": {"Display": "drinks"}},
    "ChoiceOrder": ["1"],
}
question = {"SurveyID": "SV_1", "Element": "SQ", "PrimaryAttribute": "QID1", "Payload": slider}
survey = {"SurveyEntry": {"SurveyID": "SV_1", "SurveyName": "Drinks"}, "SurveyElements": [question]}
Path("survey.qsf").write_text(json.dumps(survey), encoding="utf-8")
answers = parse_survey("answers.csv", "survey.qsf").response_answers
read = {answer["answer_text"]: answer["answer_numeric"] for answer in answers}
print("qualtrics", version("qualtrics"))
print("as written, and as a number:", read)
assert read == {"1,5": 15.0, "0,5": 5.0, "1.234,5": 1.2345}
print("A comma for the decimals is left out.")
PROGRAM
env/bin/python seen.py
