#!/bin/sh
# Expected of numbers in words, as people say or write them in an interview about income: "twenty five thousand" is 25000, as "twenty
# thousand five hundred" of the package's description is 20500.
# Seen: of a ten and a one before "thousand" or "hundred" only the one is multiplied, and the ten is added: 5020. "Two hundred fifty
# thousand" is 50200, and "twenty five hundred" 520. None of the 72 numbers of thousands with a ten and a one is right; whole tens are.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund --ignore-scripts words-to-numbers@1.5.1 @insomnia-dev/words-to-numbers@2.2.0
node - <<'END'
const { readFileSync } = require("fs");
const names = ["words-to-numbers", "@insomnia-dev/words-to-numbers"];
const ones = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
const tens = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const said = [
  ["twenty thousand five hundred", 20500],
  ["twenty five thousand", 25000],
  ["twenty five hundred", 2500],
  ["two hundred fifty thousand", 250000],
];
const seen = names.map((name) => {
  const library = require(name);
  const read = library.wordsToNumbers ?? library.default;
  const thousands = tens.flatMap((ten, at) => ones.map((one, unit) => read(`${ten} ${one} thousand`) === 1000 * (10 * at + 21 + unit)));
  console.log(name, JSON.parse(readFileSync(`node_modules/${name}/package.json`)).version);
  for (const [words, right] of said) console.log(`  ${words}: ${read(words)}, right ${right}`);
  console.log("  right of 72 numbers of thousands:", thousands.filter(Boolean).length);
  return [...said.map(([words]) => read(words)), thousands.filter(Boolean).length];
});
const wrong = [20500, 5020, 520, 50200, 0];
process.exitCode = JSON.stringify(seen) === JSON.stringify([wrong, wrong]) ? 0 : 1;
END
