import { MAX_MASK_OPTIONS, bitOf, bitsOf } from "../answers.js";
import { MAX_DENOMINATOR, log, must, sum } from "../rational.js";
import { BinaryRR, Mechanism, oddsField } from "./common.js";
import { readFields, readInteger } from "../checks.js";

/**
 * What mechanisms have in common whose report is a mask in which the bit of each of k options goes by itself through
 * the binary channel that this extends. A subclass has `selectedBits(value)`: the mask of the options that are true.
 */
export class Bits extends BinaryRR {
  static reportKind = "bits";

  /** `fields` are those of the binary channel, `size` the number of options. */
  constructor(fields, size) {
    super(fields);
    must(size <= MAX_MASK_OPTIONS);
    this.options = size;
    this.largest = 2 ** size - 1;
  }
}

/** Every one of k options through a binary channel. */
export class BitwiseRR extends Bits {
  static mechanismName = "bitwise_rr";
  static serves = "options";

  /** `{ name: "bitwise_rr", a: "3/4", b: "1/4" }`. */
  constructor(fields, { size, maxChoices }) {
    super(fields, size);
    // As many bits as may differ in the costlier direction, the rest in the other.
    const others = Math.min(maxChoices, size - maxChoices);
    this.epsilon = maxChoices * Math.max(...this.logs) + others * Math.min(...this.logs);
  }

  /** The true value itself. */
  selectedBits(value) {
    return value;
  }
}

/** A bit for each of k options: the true one's is set by a fair coin, any other's once in g + 1 times. */
export class OptimalUnary extends Bits {
  static mechanismName = "optimal_unary";
  static serves = "option";

  /** `{ name: "optimal_unary", odds: "3" }`. */
  constructor(fields, { size }) {
    readFields(fields, ["name", "odds"]);
    const [near, far] = oddsField(fields);
    super({ name: fields.name, a: "1/2", b: `${far}/${near + far}` }, size);
    this.epsilon = log(near, far);
  }

  /** The true option alone. */
  selectedBits(value) {
    return 2 ** value;
  }
}

/** One of k options, drawn whatever the truth; its bit through the binary channel that this extends. */
export class SampledOption extends BinaryRR {
  static mechanismName = "sampled_option";
  static serves = "options";
  static reportKind = "drawn_option";

  /** `{ name: "sampled_option", a: "3/4", b: "1/4" }`. */
  constructor(fields, { size }) {
    super(fields);
    this.options = size;
    this.largest = 2 * size - 1;
  }
}

/** A set of d of k options, likelier by the odds if it holds the truth. */
export class SubsetSelection extends Mechanism {
  static mechanismName = "subset_selection";
  static serves = "option";
  static reportKind = "set";

  /** `{ name: "subset_selection", odds: "3", size: 2 }`. */
  constructor(fields, { size: options }) {
    super();
    must(options <= MAX_MASK_OPTIONS);
    readFields(fields, ["name", "odds", "size"]);
    const [near, far] = oddsField(fields);
    const size = readInteger(fields.size, 1, options - 1);
    // Weights of leaving the truth out of the set and of including it.
    this.inclusion = [(options - size) * far, size * near];
    must(sum(this.inclusion) <= MAX_DENOMINATOR);
    Object.assign(this, { options, size, epsilon: log(near, far), largest: 2 ** options - 2 ** (options - size) });
  }

  /** How many sets hold the truth, how many any one other option. */
  explain() {
    const { options, size, inclusion } = this;
    const whole = sum(inclusion);
    const other = (size - 1) * inclusion[1] + size * inclusion[0];
    return { size, options, held: [inclusion[1], whole], other: [other, whole * (options - 1)] };
  }
}

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
