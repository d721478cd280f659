#!/bin/sh
# Expected of a form of SurveyJS taken over by @mieweb/forms-engine: a question is shown to the same people, or the report of the conversion
# names the condition as lost, as it does for {age} + 1 > 18.
# Seen: the "!" of a negation is passed over, so that a question for those who did not cheat is shown to those who did, and to nobody
# else; and a part with anyof is left out of an "and", so that who lives elsewhere is asked, too. The report says nothing of either.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @mieweb/forms-engine@2.1.5 survey-core@3.1.1 react@19.3.0 react-dom@19.3.0
cat > compare.mjs <<'END'
import { readFileSync } from "node:fs";
import { adaptSchema, isVisible } from "@mieweb/forms-engine";
import { Model } from "survey-core";

for (const name of ["@mieweb/forms-engine", "survey-core"]) {
  console.log(name, JSON.parse(readFileSync(`node_modules/${name}/package.json`)).version);
}
const conditions = ["!({cheated} = 'yes')", "{cheated} = 'yes' and {country} anyof ['DE', 'AT']", "{age} + 1 > 18"];
const elements = [
  { type: "radiogroup", name: "cheated", choices: ["yes", "no"] },
  { type: "dropdown", name: "country", choices: ["DE", "AT", "CH"] },
  { type: "text", inputType: "number", name: "age" },
  ...conditions.map((visibleIf, at) => ({ type: "text", name: `q${at}`, visibleIf })),
];
const form = { pages: [{ name: "page", elements }] };
const { fields, conversionReport } = adaptSchema(form, "surveyjs");
const seen = conversionReport.warnings.map((warning) => warning.value);
console.log("lost by the report:", seen);
for (const answers of [{ cheated: "yes", country: "DE" }, { cheated: "yes", country: "CH" }, { cheated: "no", country: "DE" }]) {
  const survey = new Model(form);
  survey.data = answers;
  const filled = fields.map((field) => {
    const option = (field.options ?? []).find(({ value }) => value === answers[field.id]);
    return option ? { ...field, selected: option.id } : field;
  });
  for (const at of [0, 1]) {
    const shown = [survey.getQuestionByName(`q${at}`).isVisible, isVisible(filled.find(({ id }) => id === `q${at}`), filled)];
    console.log(answers.cheated, answers.country, conditions[at], "shown by SurveyJS:", shown[0], "by the other:", shown[1]);
    seen.push(...shown);
  }
}
const wanted = ["{age} + 1 > 18", false, true, true, true, false, true, false, true, true, false, false, false];
process.exitCode = JSON.stringify(seen) === JSON.stringify(wanted) ? 0 : 1;
END
node compare.mjs
