#!/bin/sh
# Expected of lowCI and highCI of getQuantiles, "the bounds of the p=.95 confidence interval over the median": in 95 of 100 studies the true
# median lies between them. For 101 answers these are about the 41st and the 61st, 1.96 standard errors of a binomial from the middle.
# Seen: the true median lies between them in half of the studies. They are the 47th and 54th answer, .67 standard errors away.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @bunchmark/stats@1.0.0-pre-5
cat > compare.mjs <<'END'
import { readFileSync } from "node:fs";
import { getQuantiles } from "@bunchmark/stats";

console.log("@bunchmark/stats", JSON.parse(readFileSync("node_modules/@bunchmark/stats/package.json")).version);
const { lowCI, highCI } = getQuantiles(Array.from({ length: 101 }, (_, at) => at + 1));
console.log("limits of 1 to 101:", lowCI.toFixed(1), "to", highCI.toFixed(1), "; right: about 41 to 61");
let state = 1;
const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
let held = 0;
const studies = 4000;
for (let at = 0; at < studies; at++) {
  const found = getQuantiles(Array.from({ length: 101 }, random));
  held += found.lowCI <= 0.5 && 0.5 <= found.highCI;
}
console.log("studies whose limits hold the true median:", held / studies, "; error of this share: .008");
process.exitCode = Math.abs(held / studies - 0.5) < 0.04 && lowCI > 46 && highCI < 56 ? 0 : 1;
END
node compare.mjs
