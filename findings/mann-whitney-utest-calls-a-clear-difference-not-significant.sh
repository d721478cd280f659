#!/bin/sh
# Expected of significant() of a Mann-Whitney test: true where the two groups differ by more than chance gives, that is at 5 percent where
# the z that criticalValue() returns is above 1.96.
# Seen: it compares U with that z. U grows with the product of both groups, so that no difference of larger groups is significant: of 60 and
# 60 people, 30 and 70 percent, z is 4.36 and the answer false. Of two and two people it is true, where z is 1.55 and p cannot be below 1/3.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @tainakanchu/mann-whitney-utest@1.1.0
node - <<'END'
const { readFileSync } = require("fs");
const { test, criticalValue, significant } = require("@tainakanchu/mann-whitney-utest");
const folder = "node_modules/@tainakanchu/mann-whitney-utest";
console.log("@tainakanchu/mann-whitney-utest", JSON.parse(readFileSync(`${folder}/package.json`)).version);
const people = (yes) => Array.from({ length: 60 }, (_, at) => (at < yes ? 1 : 0));
const seen = [[people(18), people(42)], [people(29), people(31)], [[1, 2], [3, 4]]].map((groups) => {
  const ranks = test(groups);
  const z = criticalValue(ranks, groups);
  console.log("people", groups.map((group) => group.length), "U", ranks, "z", z.toFixed(2), "significant:", significant(ranks, groups));
  return [Math.min(...ranks), z > 1.96, significant(ranks, groups)];
});
process.exitCode = JSON.stringify(seen) === JSON.stringify([[1080, true, false], [1740, false, false], [0, false, true]]) ? 0 : 1;
END
