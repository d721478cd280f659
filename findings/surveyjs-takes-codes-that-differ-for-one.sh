#!/bin/sh
# Expected of a condition that compares an answer with a quoted code: codes are texts, 1e2 and 100 are two of them.
# Seen: quoted codes that can be read as numbers are one: "1e2" shows the question for "100", "1.0" the one for "1"; "01" is
# not "1" when the code is quoted and is 1 when it is not; A and a are one. Codes of diagnoses and of ordered lots look like this.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund --ignore-scripts survey-core@3.1.1
node - <<'END'
const { Model } = require("survey-core");
const rows = [["1e2", "{a} = '100'"], ["1.0", "{a} = '1'"], ["0x10", "{a} = '16'"], ["01", "{a} = '1'"], ["01", "{a} = 1"], ["A", "{a} = 'a'"]];
const seen = rows.map(([code, condition]) => {
  const elements = [{ type: "radiogroup", name: "a", choices: [code, "z"] }, { type: "text", name: "b", visibleIf: condition }];
  const survey = new Model({ elements });
  survey.setValue("a", code);
  return survey.getQuestionByName("b").isVisible;
});
console.log("survey-core", JSON.parse(require("fs").readFileSync("node_modules/survey-core/package.json")).version);
rows.forEach(([code, condition], at) => console.log(`answer ${code}, condition ${condition}: ${seen[at] ? "shown" : "hidden"}`));
process.exitCode = JSON.stringify(seen) === "[true,true,true,false,true,true]" ? 0 : 1;
END
