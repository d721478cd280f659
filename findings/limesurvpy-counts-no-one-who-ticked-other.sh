#!/bin/sh
# Expected of a question with several answers and "other": as many "other" as wrote something there. LimeSurvey keeps the text itself in
# the column of "other", and Y in those of the options.
# Seen: limesurvpy counts the letter Y in all of them, so that "other" is 0, beside 40 people whose texts it gives in another table.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check limesurvpy==0.0.4 pandas==2.3.3 numpy==2.2.6 altair==5.5.0 matplotlib==3.10.7
cat > survey.lss <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<document>
 <questions><rows><row><qid>1</qid><title>help</title><type>M</type><other>Y</other><mandatory>N</mandatory></row></rows></questions>
 <subquestions><rows>
  <row><qid>2</qid><parent_qid>1</parent_qid><title>friend</title></row>
  <row><qid>3</qid><parent_qid>1</parent_qid><title>teacher</title></row>
 </rows></subquestions>
 <question_l10ns><rows>
  <row><qid>1</qid><language>en</language><question>Who helped you?</question></row>
  <row><qid>2</qid><language>en</language><question>A friend</question></row>
  <row><qid>3</qid><language>en</language><question>A teacher</question></row>
 </rows></question_l10ns>
</document>
END
MPLCONFIGDIR="$folder" env/bin/python - <<'END'
from importlib.metadata import version
from pathlib import Path

from limesurvpy import Survey
from limesurvpy.data_processing import DataProcessing


class Same:
    """Texts as they are: the package asks a translator on the network for them."""

    target = "en"

    def translate(self, text):
        return text


DataProcessing.translator = Same()
rows = ["Y,,"] * 50 + [",Y,"] * 10 + [",,my sister"] * 25 + ["Y,,a book"] * 15
Path("answers.csv").write_text("\n".join(["help[friend],help[teacher],help[other]", *rows]))
survey = Survey.from_lss("survey.lss")
survey.import_responses("answers.csv")
found = survey.describe(question_code="help", plot=False)
counts = found.items.set_index("category")["count"].to_dict()
print("limesurvpy", version("limesurvpy"), "counts:", counts, "; texts of other:", len(found.other_items))
raise SystemExit(counts != {"friend": 65, "teacher": 10, "other": 0} or len(found.other_items) != 40)
END
