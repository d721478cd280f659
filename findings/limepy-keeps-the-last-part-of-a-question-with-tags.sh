#!/bin/sh
# limepy 0.1.15 reads a LimeSurvey structure with strip_tags=True. In two questions a word is bold.
# Expected: the text without tags: "Did you ever cheat in an exam?", "Did you never cheat in an exam?".
# Seen: what follows the last tag alone: " cheat in an exam?" for both, so that two columns of opposite meaning have one
# name.
# It matters since LimeSurvey's editor writes such tags, and a bold "not" is what questionnaires stress.
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

texts = ["Did you <b>ever</b> cheat in an exam?", "Did you <b>never</b> cheat in an exam?"]
questions, labels = "", ""
for number, text in enumerate(texts, 1):
    questions += f"""<row><qid>{number}</qid><parent_qid>0</parent_qid><gid>1</gid><type>Y</type>
<title>q{number}</title><other>N</other><mandatory>N</mandatory></row>"""
    labels += f"<row><qid>{number}</qid><question><![CDATA[{text}]]></question><language>en</language></row>"
structure = f"""<document><languages><language>en</language></languages>
<groups><rows><row><gid>1</gid></row></rows></groups>
<group_l10ns><rows><row><gid>1</gid><group_name>Exams</group_name><language>en</language></row></rows></group_l10ns>
<questions><rows>{questions}</rows></questions><question_l10ns><rows>{labels}</rows></question_l10ns></document>"""
data = pd.DataFrame({"q1": ["Y", "N"], "q2": ["N", "Y"]})
plain = list(Survey(data, structure).readable_df.columns)
stripped = list(Survey(data, structure, strip_tags=True).readable_df.columns)
print("limepy", version("limepy"))
print("with tags:      ", plain)
print("strip_tags=True:", stripped)
assert plain == texts
assert stripped == [" cheat in an exam?"] * 2
print("Only what follows the last tag is left, and two questions have one name.")
PROGRAM
env/bin/python seen.py
