#!/bin/sh
# Expected of the condition "equals" of @joyfill/conditional-logic, an "exact string match" by its documentation: an option equals its own text.
# Seen: the text is read as a regular expression. "Yes (full time)" and "18+" never equal themselves, so that the next question stays hidden
# to just these people; "1.00" equals 1000; "Bus|Train" equals every answer that begins with Bus. "Filled" is false for the number 0.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @joyfill/conditional-logic@0.1.3 @babel/runtime@7.27.0
node - <<'END'
const { applyLogic } = require("@joyfill/conditional-logic");
const isShown = (answer, condition, value) => {
  const logic = { action: "show", eval: "and", conditions: [{ field: "work", condition, value }] };
  const fields = [{ _id: "work", type: "dropdown", value: answer }, { _id: "next", type: "text", hidden: true, logic }];
  return !applyLogic(fields, fields, "_id")[1].hidden;
};
const rows = [
  ["Full time", "=", "Full time"], ["Yes (full time)", "=", "Yes (full time)"], ["18+", "=", "18+"], ["1000", "=", "1.00"],
  ["Bus from Bonn", "=", "Bus|Train"], [0, "*=", ""], [3, "*=", ""],
];
const seen = rows.map((row) => isShown(...row));
const { version } = JSON.parse(require("fs").readFileSync("node_modules/@joyfill/conditional-logic/package.json"));
console.log("@joyfill/conditional-logic", version);
rows.forEach((row, at) => console.log("answer, condition, value:", JSON.stringify(row), seen[at] ? "shown" : "hidden"));
process.exitCode = JSON.stringify(seen) === "[true,false,false,true,true,false,true]" ? 0 : 1;
END
