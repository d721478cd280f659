import { MAX_DENOMINATOR, log, must, sum } from "../rational.js";
import { readFields } from "../reading.js";
import { Mechanism, oddsField } from "./base.js";

/** One of K columns, likelier by the odds if it belongs to the true option. */
export class HadamardResponse extends Mechanism {
  static mechanismName = "hadamard_response";
  static questionTypes = ["select_one", "rating"];

  /** `{ name: "hadamard_response", odds: "3" }`. */
  constructor(fields, { size }) {
    super();
    readFields(fields, ["name", "odds"]);
    const [own, other] = oddsField(fields);
    // Weights of another's column and of an own one.
    this.inclusion = [other, own];
    must(sum(this.inclusion) <= MAX_DENOMINATOR);
    // The smallest power of two above the number of options, which is far below 2^31.
    this.columns = 2 ** (32 - Math.clz32(size));
    this.largest = this.columns - 1;
    this.epsilon = log(own, other);
  }

  /** The column with this index among the own (1) or the other (0) columns of option `value`. */
  column(value, own, index) {
    const row = value + 1;
    let free = 1;
    while (Math.floor(row / free) % 2 === 0) free *= 2;
    const column = Math.floor(index / free) * 2 * free + (index % free);
    return shared(row, column) % 2 === own ? column + free : column;
  }

  /** How many send a column of their answer; any other answer has half of the columns. */
  explain() {
    return { columns: this.columns, own: [this.inclusion[1], sum(this.inclusion)] };
  }
}

// The number of one bits that two numbers have in common; in arithmetic, since bit operations are signed here.
function shared(x, y) {
  return x === 0 ? 0 : (x % 2) * (y % 2) + shared(Math.floor(x / 2), Math.floor(y / 2));
}
