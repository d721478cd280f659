#!/bin/sh
# Expected of rules of which each is marked as required, "must always evaluate to true for the object to pass": who meets all of them
# passes, with or without further rules.
# Seen: with the setting that the package takes if none is named, one of the rules that are not required must hold too, also where there
# is none. An adult who consents does not pass; with one more rule, or with satisfy: "ALL", she does.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund --ignore-scripts json-conditions@1.1.0
node - <<'END'
const { readFileSync } = require("fs");
const holds = require("json-conditions");
const adult = { age: 40, consents: "yes", country: "nl" };
const required = [
  { property: "age", op: "gte", value: 18, required: true },
  { property: "consents", op: "eq", value: "yes", required: true },
];
const more = { property: "country", op: "eq", value: "nl" };
const seen = [
  holds({ rules: required }, adult),
  holds({ rules: required, satisfy: "ALL" }, adult),
  holds({ rules: [...required, more] }, adult),
  holds({ rules: required.map((rule) => ({ ...rule, required: false })) }, adult),
];
console.log("json-conditions", JSON.parse(readFileSync("node_modules/json-conditions/package.json")).version);
console.log("both required, satisfy ALL, one more rule, none required:", ...seen);
process.exitCode = JSON.stringify(seen) === JSON.stringify([false, true, true, true]) ? 0 : 1;
END
