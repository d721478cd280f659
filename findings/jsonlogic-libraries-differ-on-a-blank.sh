#!/bin/sh
# One rule of a survey in JsonLogic, run by json-logic-js 2.0.5 and json-logic-engine 5.0.7.
# Expected: two libraries of one specification give one result for an unanswered question.
# Seen: a sum with one blank is not a number in the first and the sum of the rest in the second; "missing" counts an
# erased answer as missing in the first and not in the second.
# It matters where a form runs on one and its score, or the check on the server, on the other.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . "json-logic-js@2.0.5" "json-logic-engine@5.0.7"
cat > seen.cjs <<'PROGRAM'
const assert = require("node:assert");
const first = require("json-logic-js");
const { LogicEngine } = require("json-logic-engine");
const second = new LogicEngine();
const cases = [
  [{ "+": [{ var: "a" }, { var: "b" }] }, { a: 1 }, NaN, 1],
  [{ "*": [{ var: "a" }, 2] }, {}, NaN, 0],
  [{ missing: ["k"] }, { k: "" }, ["k"], []],
];
for (const name of ["json-logic-js", "json-logic-engine"]) {
  console.log(name, require(`./node_modules/${name}/package.json`).version);
}
for (const [rule, data, one, other] of cases) {
  const found = [first.apply(rule, data), second.run(rule, data)];
  console.log(JSON.stringify(rule), JSON.stringify(data), "->", found);
  assert.deepStrictEqual(found, [one, other]);
}
console.log("The two libraries differ on blanks.");
PROGRAM
node seen.cjs
