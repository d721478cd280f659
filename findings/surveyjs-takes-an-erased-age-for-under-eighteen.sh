#!/bin/sh
# A question that survey-core 3.1.1 shows where "{age} < 18"; then a sum, and a condition with "contains".
# Expected: a blank age is blank, whether nothing was typed or it was erased; a sum with a blank is blank, or that of the rest in
# both cases; "contains" asks whether an option was chosen.
# Seen: before typing the question is hidden, after erasing it is shown, with the same stored data; the sum counts a blank as 0;
# with one answer "contains" looks for letters: "category" contains "cat".
# It matters for consent of minors, and for scores of scales.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund --ignore-scripts survey-core@3.1.1
node - <<'END'
const { Model } = require("survey-core");
const survey = new Model({ elements: [
  { type: "text", name: "age", inputType: "number" },
  { type: "text", name: "parent", visibleIf: "{age} < 18" },
  { type: "text", name: "first", inputType: "number" },
  { type: "text", name: "second", inputType: "number" },
  { type: "expression", name: "score", expression: "{first} + {second}" },
  { type: "radiogroup", name: "word", choices: ["cat", "category"] },
  { type: "text", name: "cat_only", visibleIf: "{word} contains 'cat'" },
] });
const age = survey.getQuestionByName("age");
const isShown = name => survey.getQuestionByName(name).isVisible;
const seen = [isShown("parent")];
age.value = 30;
age.value = "";
seen.push(isShown("parent"), "age" in survey.data);
survey.setValue("first", 3);
seen.push(survey.getValue("score"));
survey.setValue("word", "category");
seen.push(isShown("cat_only"));
console.log("survey-core", JSON.parse(require("fs").readFileSync("node_modules/survey-core/package.json")).version);
console.log(`shown before typing: ${seen[0]}; after 30 was typed and erased: ${seen[1]}, an age is stored: ${seen[2]}`);
console.log(`score of 3 and a blank: ${seen[3]}; "category" contains "cat": ${seen[4]}`);
process.exitCode = JSON.stringify(seen) === "[false,true,false,3,true]" ? 0 : 1;
END
