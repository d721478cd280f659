#!/bin/sh
# limepy 0.1.15 reads LimeSurvey's structure (.lss) and answers of an array with two scales, "how often" and "how bad",
# whose answers have the codes A1 and A2 in either scale, as LimeSurvey allows.
# Expected: the first column in the words of the first scale: never, often.
# Seen: the words of the second scale stand in both columns: who cheated often is "harmless" or "bad" twice.
# It matters wherever a dual scale is analysed by its readable answers: one scale is lost, without a word.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check "limepy==0.1.15" "pandas==2.3.3" "numpy==2.2.6" \
  "xmltodict==0.15.0"
cat > seen.py <<'PROGRAM'
from importlib.metadata import version

import pandas as pd
from limepy.wrangle import Survey

words = {"0": ["never", "often"], "1": ["harmless", "bad"]}
answers, texts = "", ""
for number, (scale, code) in enumerate((scale, code) for scale in "01" for code in (1, 2)):
    answers += f"<row><qid>1</qid><aid>{number}</aid><code>A{code}</code><scale_id>{scale}</scale_id></row>"
    word = words[scale][code - 1]
    texts += f"<row><id>{number}</id><aid>{number}</aid><answer>{word}</answer><language>en</language></row>"
items, labels = "", ""
for number, text in ((2, "I used notes"), (3, "I copied")):
    items += f"<row><qid>{number}</qid><parent_qid>1</parent_qid><title>SQ{number}</title><scale_id>0</scale_id></row>"
    labels += f"<row><qid>{number}</qid><question>{text}</question><language>en</language></row>"
structure = f"""<document><languages><language>en</language></languages>
<groups><rows><row><gid>1</gid></row></rows></groups>
<group_l10ns><rows><row><gid>1</gid><group_name>Exams</group_name><language>en</language></row></rows></group_l10ns>
<questions><rows><row><qid>1</qid><parent_qid>0</parent_qid><gid>1</gid><type>1</type><title>exam</title>
<other>N</other><mandatory>N</mandatory></row></rows></questions>
<subquestions><rows>{items}</rows></subquestions><question_l10ns><rows>
<row><qid>1</qid><question>In exams</question><language>en</language></row>{labels}</rows></question_l10ns>
<answers><rows>{answers}</rows></answers><answer_l10ns><rows>{texts}</rows></answer_l10ns></document>"""
codes = {"_0": ["A1", "A2", "A2"], "_1": ["A2", "A1", "A2"]}
data = pd.DataFrame({f"exam[SQ{item}{scale}]": values for item in (2, 3) for scale, values in codes.items()})
often, bad, *_ = (column.tolist() for _, column in Survey(data, structure).readable_df.items())
print("limepy", version("limepy"))
print("how often, codes:", codes["_0"], "in words:", often)
print("how bad, codes:  ", codes["_1"], "in words:", bad)
assert often == ["harmless", "bad", "bad"]
assert bad == ["bad", "harmless", "bad"]
print("The first scale has the words of the second.")
PROGRAM
env/bin/python seen.py
