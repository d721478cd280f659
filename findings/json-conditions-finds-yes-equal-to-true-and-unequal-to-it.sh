#!/bin/sh
# Expected of conditions on an answer that is true or false, whose rules may come from a form ("the strings 'true' and 'false' will be
# converted to booleans"): of "is true" and "is not true" one holds.
# Seen: "is not true" holds for everybody. The comparison with the text is not replaced by the one with its meaning, but either of them
# is enough, and true is never the text "true". Who consents is asked what those are asked who do, and what those are who do not.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund --ignore-scripts json-conditions@1.1.0
node - <<'END'
const { readFileSync } = require("fs");
const holds = require("json-conditions");
console.log("json-conditions", JSON.parse(readFileSync("node_modules/json-conditions/package.json")).version);
const seen = [true, false].map((consents) =>
  ["eq", "neq"].map((op) => holds({ rules: [{ property: "consents", op, value: "true" }] }, { consents })),
);
const plain = [true, false].map((consents) =>
  ["eq", "neq"].map((op) => holds({ rules: [{ property: "consents", op, value: true }] }, { consents })),
);
["consents:", "does not:"].forEach((name, at) => console.log(name, "is 'true', is not 'true':", ...seen[at], "; without quotes:", ...plain[at]));
const wanted = [[[true, true], [false, true]], [[true, false], [false, true]]];
process.exitCode = JSON.stringify([seen, plain]) === JSON.stringify(wanted) ? 0 : 1;
END
