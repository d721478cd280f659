#!/bin/sh
# Expected of a package that evaluates expressions "using the SurveyJS language": the answer that SurveyJS itself gives.
# Seen: `and` and `or` bind before <, >=, != and +. "{age} >= 18 and {country} = 'a'" asks whether 12 is at least "18 and a", true,
# which is 1: a child of 12 is an adult to the server and a child to the form. The reverse is there too, and a number is never notempty.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund --ignore-scripts surveyjs-expression-eval@1.0.2 survey-core@3.1.1
node - <<'END'
const { readFileSync } = require("fs");
const { Model } = require("survey-core");
const evaluate = require("surveyjs-expression-eval");
const rows = [
  ["{age} >= 18 and {country} = 'a'", { age: 12, country: "a" }],
  ["{age} >= 18 and {children} >= 1", { age: 40, children: 0 }],
  ["{age} < 18 or {children} > 2", { age: 12, children: 3 }],
  ["{children} != 3 and {age} > 10", { age: 40, children: 0 }],
  ["{age} notempty", { age: 40 }],
];
const seen = rows.map(([condition, answers]) => {
  const survey = new Model({ elements: [{ type: "text", name: "next", visibleIf: condition }] });
  survey.data = answers;
  return [survey.getQuestionByName("next").isVisible, Boolean(evaluate(condition, answers))];
});
for (const name of ["survey-core", "surveyjs-expression-eval"]) {
  console.log(name, JSON.parse(readFileSync(`node_modules/${name}/package.json`)).version);
}
rows.forEach(([condition, answers], at) => console.log(condition, JSON.stringify(answers), "form, server:", ...seen[at]));
const wanted = [[false, true], [false, true], [true, false], [true, false], [true, false]];
process.exitCode = JSON.stringify(seen) === JSON.stringify(wanted) ? 0 : 1;
END
