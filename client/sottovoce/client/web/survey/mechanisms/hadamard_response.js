import { bitOf, bitsOf } from "../answers.js";
import { MAX_DENOMINATOR, log, must } from "../rational.js";
import { readFields } from "../checks.js";
import { Mechanism, oddsField } from "./base.js";

/** One of the columns of a Hadamard matrix, likelier by the odds if it belongs to the true option. */
export class HadamardResponse extends Mechanism {
  static mechanismName = "hadamard_response";
  static serves = "option";
  static reportKind = "own_mark";

  /** `{ name: "hadamard_response", odds: "3" }`. */
  constructor(fields, { size }) {
    super();
    readFields(fields, ["name", "odds"]);
    const [near, far] = oddsField(fields);
    must(near + far <= MAX_DENOMINATOR);
    // Weights of another's column and of an own one; columns are the smallest power of two above the options.
    this.inclusion = [far, near];
    this.columns = 2 ** size.toString(2).length;
    this.largest = this.columns - 1;
    this.epsilon = log(near, far);
  }

  /** The column with this index among the own (1) or the other (0) columns of option `value`. */
  column(value, own, index) {
    // The lowest bit of the row's number is left free for the parity; the index fills the other bits.
    const row = bitsOf(value + 1, Array(this.columns.toString(2).length));
    const free = 2 ** row[0];
    const column = Math.floor(index / free) * 2 * free + (index % free);
    const odd = row.filter((bit) => bitOf(column, bit)).length % 2;
    return odd === own ? column + free : column;
  }

  /** The number of columns, how many send one of their own option's, how many one of any other's. */
  explain() {
    const [far, near] = this.inclusion;
    return { marks: this.columns, own: [near, near + far], other: [1, 2] };
  }
}
