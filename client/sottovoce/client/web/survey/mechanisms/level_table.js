import { MAX_DENOMINATOR, log, must, sum } from "../rational.js";
import { readFields, readItems } from "../checks.js";
import { Mechanism } from "./base.js";

const MAX_SIDE = 64;

/** A number rounded to one of a few levels, which goes through a table made for the mean. */
export class LevelTable extends Mechanism {
  static mechanismName = "level_table";
  static serves = "number";
  static reportKind = "mark";

  /** `{ name: "level_table", scores: [..], weights: [[..], ..] }`, a row of weights for each level. */
  constructor(fields, { steps }) {
    super();
    readFields(fields, ["name", "scores", "weights"]);
    const { scores, weights } = fields;
    checkSide(scores);
    checkSide(weights, Array.isArray);
    this.whole = sum(weights[0]);
    for (const row of weights) {
      checkSide(row, (weight) => Number.isSafeInteger(weight) && weight > 0);
      must(row.length === scores.length && sum(row) === this.whole);
    }
    must(this.whole <= MAX_DENOMINATOR);
    weights.forEach((row, level) => checkMean(row, scores, level, weights.length - 1, this.whole));
    const columns = scores.map((_, column) => weights.map((row) => row[column]));
    this.epsilon = Math.max(...columns.map((column) => log(Math.max(...column), Math.min(...column))));
    Object.assign(this, { steps, rows: weights, largest: scores.length - 1 });
  }

  /** The level below step `value`, and the weights of rounding down to it and up to the next. */
  neighbours(value) {
    const place = value * (this.rows.length - 1);
    return [Math.floor(place / this.steps), [this.steps - (place % this.steps), place % this.steps]];
  }

  /** The number of outputs, and how many people with one number send the same one at most. */
  explain() {
    return { marks: this.largest + 1, most: [Math.max(...this.rows.flat()), this.whole] };
  }
}

function checkSide(values, isRight = Number.isSafeInteger) {
  must(readItems(values, 2, MAX_SIDE).every(isRight));
}

// E[score | level] is the level, within 10^-8 half ranges; scores are billionths of half the range from its middle.
function checkMean(row, scores, level, last, whole) {
  const total = row.reduce((all, weight, column) => all + BigInt(weight) * BigInt(scores[column]), 0n) * BigInt(last);
  const off = total - BigInt(2 * level - last) * BigInt(whole) * 1_000_000_000n;
  const most = BigInt(10 * last) * BigInt(whole);
  must(-most <= off && off <= most);
}
