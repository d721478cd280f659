import { must, sum } from "./rational.js";

const MAX_WAVES = 1000;

/**
 * The privacy loss of one report: the sum over all questions, or over the `ask` largest where each respondent draws
 * and answers so many of them.
 *
 * @throws {RangeError} an epsilon is negative or no number, or there are fewer questions than are asked
 */
export function reportEpsilon(epsilons, ask = null) {
  epsilons.forEach(checkEpsilon);
  if (ask === null) return sum(epsilons);
  checkWhole(ask, 1, epsilons.length);
  return sum([...epsilons].sort((x, y) => y - x).slice(0, ask));
}

/** The privacy loss of answering so many unlinked waves, each with a fresh draw. */
export function wavesEpsilon(epsilon, waves) {
  checkEpsilon(epsilon);
  checkWhole(waves, 1, MAX_WAVES);
  return epsilon * waves;
}

function checkEpsilon(epsilon) {
  // Written so that what is not a number is refused.
  must(typeof epsilon === "number" && epsilon >= 0 && epsilon < Infinity);
}

function checkWhole(number, low, high) {
  must(Number.isInteger(number) && number >= low && number <= high);
}
