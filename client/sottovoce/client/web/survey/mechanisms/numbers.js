import { BinaryRR, Mechanism, oddsField } from "./common.js";
import { MAX_DENOMINATOR, log, must, parseFraction, sum } from "../rational.js";
import { readFields, readInteger, readItems } from "../checks.js";

/** A number rounded to one of its ends, which goes through the binary channel that this extends. */
export class RoundingRR extends BinaryRR {
  static mechanismName = "rounding_rr";
  static serves = "number";
  static reportKind = "end";

  /** `{ name: "rounding_rr", a: "3/4", b: "1/4" }`. */
  constructor(fields, { steps }) {
    super(fields);
    this.steps = steps;
  }

  /** Weights of rounding step `value` down to the least and up to the largest value. */
  ends(value) {
    return [this.steps - value, value];
  }
}

/** One of several numbers, drawn whatever the truth; its end through the channel that this extends. */
export class SampledCoordinate extends RoundingRR {
  static mechanismName = "sampled_coordinate";
  static serves = "numbers";
  static reportKind = "drawn_end";

  /** `{ name: "sampled_coordinate", a: "3/4", b: "1/4" }`. */
  constructor(fields, domain) {
    super(fields, domain);
    this.coordinates = domain.options.length;
    this.largest = 2 * this.coordinates - 1;
  }

  /** The number of coordinates, and the shares of the bit. */
  explain() {
    return { coordinates: this.coordinates, ...super.explain() };
  }
}

const MAX_STEPS = 1000;

/** A number plus two-sided geometric noise of ratio p/q, kept within its range. */
export class Geometric extends Mechanism {
  static mechanismName = "geometric";
  static serves = "number";
  static reportKind = "number";

  /** `{ name: "geometric", ratio: "9/10" }`. */
  constructor(fields, { steps }) {
    super();
    must(steps <= MAX_STEPS);
    readFields(fields, ["name", "ratio"]);
    const [p, q] = parseFraction(fields.ratio);
    must(0 < p && p < q);
    must(p + q <= MAX_DENOMINATOR);
    // Weights of no noise, noise upwards and downwards; and of stopping and of one step more.
    this.direction = [q - p, p, p];
    this.onward = [q - p, p];
    Object.assign(this, { steps, largest: steps, epsilon: steps * log(q, p) });
  }

  /** How many draw no noise. */
  explain() {
    const [none, p] = this.direction;
    return { exact: [none, none + 2 * p] };
  }
}

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

const MAX_BINS = 1024;

/** A number in one of D bins, reported within w bins of its own with the odds. */
export class SquareWave extends Mechanism {
  static mechanismName = "square_wave";
  static serves = "number";
  static reportKind = "range";

  /** `{ name: "square_wave", odds: "3", bins: 32, width: 8 }`. */
  constructor(fields, { size }) {
    super();
    readFields(fields, ["name", "bins", "odds", "width"]);
    this.odds = oddsField(fields);
    this.size = size;
    this.bins = readInteger(fields.bins, 2, Math.min(MAX_BINS, size));
    this.width = readInteger(fields.width, 0, this.bins);
    must(sum(this.weights(0)) <= MAX_DENOMINATOR);
    this.largest = this.bins + 2 * this.width - 1;
    this.epsilon = log(...this.odds);
  }

  /** One weight per output when the truth is step `value`. */
  weights(value) {
    const [near, far] = this.odds;
    const first = Math.floor((value * this.bins) / this.size);
    const row = Array(this.bins + 2 * this.width).fill(far);
    return row.fill(near, first, first + 2 * this.width + 1);
  }

  /** The steps [first, last] that output `reported` stands for; beyond the grid's ends, as if it went on. */
  span(reported) {
    const bin = reported - this.width;
    const start = (index) => Math.ceil((index * this.size) / this.bins);
    return [start(bin), start(bin + 1) - 1];
  }

  /** The number of outputs, how many lie beyond the ends, and how many people send one near their own. */
  explain() {
    const row = this.weights(0);
    const near = (2 * this.width + 1) * this.odds[0];
    return { ranges: this.largest + 1, beyond: 2 * this.width, window: 2 * this.width + 1, near: [near, sum(row)] };
  }
}
