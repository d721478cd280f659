#!/bin/sh
# Expected of Krippendorff's alpha: it does not know the raters apart, so that their order changes nothing. Where the last rating of a
# rater is missing, as in the package's own example, the others' ratings still count.
# Seen: there are as many units as the first rater rated. If the first one left out the last four texts of ten, all ratings of those are
# passed over: the same three raters agree by .70 or by 1.00. Written out with undefined at the end, the order does not matter.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund --ignore-scripts krippendorff@0.1.0
node - <<'END'
const { readFileSync } = require("fs");
const { alpha } = require("krippendorff");
const one = [1, 2, 1, 2, 1, 2, 1, 2, 1, 2];
const two = [1, 2, 1, 2, 1, 2, 2, 1, 1, 2];
const short = [1, 2, 1, 2, 1, 2];
const whole = [...short, undefined, undefined, undefined, undefined];

/** Of nominal ratings, by its definition: 1 - observed / expected disagreement of pairs within units. */
function right(raters) {
  const units = one.map((_, unit) => raters.map((ratings) => ratings[unit]).filter((rating) => rating !== undefined));
  const rated = units.filter((ratings) => ratings.length > 1);
  const all = rated.flat();
  const differ = (ratings) => ratings.flatMap((a, i) => ratings.map((b, j) => Number(i !== j && a !== b))).reduce((sum, each) => sum + each, 0);
  const observed = rated.reduce((sum, ratings) => sum + differ(ratings) / (ratings.length - 1), 0) / all.length;
  return 1 - observed / (differ(all) / (all.length * (all.length - 1)));
}

const orders = [[one, two, short], [short, one, two], [whole, one, two]];
const seen = orders.map((raters) => alpha(raters).toFixed(2));
console.log("krippendorff", JSON.parse(readFileSync("node_modules/krippendorff/package.json")).version);
console.log("short one last, first, first but written out:", ...seen, "; by the definition:", ...orders.map((raters) => right(raters).toFixed(2)));
const wanted = right(orders[0]).toFixed(2);
process.exitCode = wanted !== "1.00" && JSON.stringify(seen) === JSON.stringify([wanted, "1.00", wanted]) ? 0 : 1;
END
