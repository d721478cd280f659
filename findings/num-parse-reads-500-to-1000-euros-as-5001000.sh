#!/bin/sh
# Expected of a parser of typed numbers that "never silently misparses into wrong numbers", whose thousands are "in groups of exactly 3
# digits" and which gives null for anything else, as for 1,23,456, 5-10 and 18+.
# Seen: signs of money and spaces are taken out first, whatever stands on both sides. "500 EUR 1000 EUR" with euro signs, an answer of
# somebody who earns between the two, is 5001000, "5 EUR 10" is 510, and "12 34" is 1234, though its groups are of two digits.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @norbulcz/num-parse@0.1.0
cat > compare.mjs <<'END'
import { readFileSync } from "node:fs";
import { parseNumber } from "@norbulcz/num-parse";

console.log("@norbulcz/num-parse", JSON.parse(readFileSync("node_modules/@norbulcz/num-parse/package.json")).version);
const typed = ["1 234", "500\u20ac", "1,23,456", "5-10", "18+", "500\u20ac 1000\u20ac", "5\u20ac10", "12 34", "1 5"];
const read = typed.map((answer) => parseNumber(answer));
typed.forEach((answer, at) => console.log(`  ${answer}: ${read[at]}`));
process.exitCode = JSON.stringify(read) === JSON.stringify([1234, 500, null, null, null, 5001000, 510, 1234, 15]) ? 0 : 1;
END
node compare.mjs
