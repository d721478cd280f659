#!/bin/sh
# Expected of import_surveyjs of siamang, which "maps what the questionnaire format can hold and reports the rest": who is asked what in a
# form of SurveyJS is asked so in the new questionnaire, or the report names the question, as it does where a choice has a condition.
# Seen: a question and a panel with "visible": false, which SurveyJS shows to nobody, are asked of everybody, and the options of
# "choicesVisibleIf", shown to those who took something, are offered to all. Nothing is skipped and there is no warning.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check siamang==0.6.5 pandas==2.3.3 numpy==2.4.6 scipy==1.17.1
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund --ignore-scripts survey-core@3.1.1
cat > form.json <<'END'
{"pages": [{"name": "page", "elements": [
  {"type": "checkbox", "name": "taken", "choices": ["cannabis", "cocaine", "nothing"]},
  {"type": "radiogroup", "name": "often", "choices": ["cannabis", "cocaine", "nothing"], "choicesVisibleIf": "{taken} contains {item}"},
  {"type": "text", "name": "channel", "visible": false},
  {"type": "panel", "name": "staff", "visible": false, "elements": [{"type": "comment", "name": "note"}]},
  {"type": "text", "name": "other", "visibleIf": "{taken} empty"}
]}]}
END
node - <<'END'
const { readFileSync } = require("fs");
const { Model } = require("survey-core");
console.log("survey-core", JSON.parse(readFileSync("node_modules/survey-core/package.json")).version);
const survey = new Model(JSON.parse(readFileSync("form.json")));
survey.data = { taken: ["cannabis"] };
const shown = survey.getAllQuestions().filter((question) => question.isVisible && question.parent.isVisible).map(({ name }) => name);
const offered = survey.getQuestionByName("often").visibleChoices.map(({ value }) => value);
console.log("asked by SurveyJS of one who took cannabis:", shown, "offered:", offered);
process.exitCode = JSON.stringify([shown, offered]) === JSON.stringify([["taken", "often"], ["cannabis"]]) ? 0 : 1;
END
env/bin/python - <<'END'
import json
from importlib.metadata import version

from siamang.model.import_surveyjs import import_surveyjs

with open("form.json", encoding="utf-8") as file:
    found = import_surveyjs(json.load(file))
items = {item["var"]: item for page in found.document["pages"] for item in page["items"] if isinstance(item["var"], str)}
asked = {name: "show_if" in item for name, item in items.items()}
offered = [choice["code"] for choice in items["often"]["choices"]]
reported = [skipped.where for skipped in found.skipped]
print("siamang", version("siamang"), "asked, with a condition:", asked, "offered:", offered, "reported:", reported)
print(found.warnings)
everyone = dict.fromkeys(["taken", "often", "channel", "note", "other"], False)
raise SystemExit(asked != everyone or offered != ["cannabis", "cocaine", "nothing"] or reported != ["other"])
END
