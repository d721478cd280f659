import { MAX_DENOMINATOR, log, must, sum } from "../rational.js";
import { readFields, readInteger } from "../checks.js";
import { Mechanism, oddsField } from "./base.js";

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
