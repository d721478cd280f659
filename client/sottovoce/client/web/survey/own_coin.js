import { locate } from "./checks.js";
import { must, sum } from "./rational.js";
import { COIN_SENTENCES } from "./sentences/coin.js";
import { RARE_SENTENCES } from "./known.js";

const FLIPS = new Map([
  [4, 2],
  [8, 3],
]);
const FACES = 6;

/**
 * How a person runs a yes/no channel by hand: `{ flips, parts: [[action, outcomes]] }`; null if neither a coin nor a
 * die gives its odds. Outcomes are beginnings of a row of `flips` flips, or the first and last number of a die if
 * `flips` is 0. The maths is in the Python twin.
 */
export function procedure(mechanism) {
  if (mechanism.name !== "binary_rr") return null;
  const scale = sum(mechanism.weights(0));
  if (FACES % scale && !FLIPS.has(scale)) return null;
  const flips = FLIPS.get(scale) ?? 0;
  const whole = flips ? scale : FACES;
  const [yes, no] = [mechanism.weights(0)[1], mechanism.weights(1)[0]].map((weight) => (weight * whole) / scale);
  const weights = [["truth", whole - yes - no], ["yes", yes], ["no", no]];
  if (flips) {
    weights.sort((one, other) => other[1] - one[1]);
    return { flips, parts: weighed(weights, (first, end) => beginnings(first, end, flips)) };
  }
  const opposite = [["truth", whole - yes], ["opposite", yes]];
  return { flips, parts: weighed(yes === no ? opposite : weights, (first, end) => [first + 1, end]) };
}

/**
 * Refuse what people cannot do by themselves with a coin or a die, and what the device would add; what the page says of
 * coins it can say from then on.
 */
export function checkOwnCoin({ items }) {
  RARE_SENTENCES.add(COIN_SENTENCES);
  items.forEach((item, index) =>
    locate(`/questions/${index}`, () => {
      must(item.anyOf.length + item.visibleIf.length === 0);
      for (const { absent, mechanism } of item.questions) {
        must(absent === null && (mechanism === null || procedure(mechanism)));
      }
    }),
  );
}

function weighed(weights, outcomes) {
  let end = 0;
  return weights.map(([action, weight]) => [action, outcomes(end, (end += weight))]);
}

// The fewest beginnings that stand for the rows of flips numbered first .. end - 1, heads before tails.
function beginnings(first, end, flips) {
  const found = [];
  for (let start = first; start < end;) {
    const size = [4, 2, 1].find((block) => start % block === 0 && start + block <= end);
    const row = start.toString(2).padStart(flips, "0").replaceAll("0", "H").replaceAll("1", "T");
    found.push(row.slice(0, flips - Math.log2(size)));
    start += size;
  }
  return found;
}
