import { MAX_MASK_OPTIONS } from "../answers.js";
import { MAX_DENOMINATOR, log, must, sum } from "../rational.js";
import { readFields, readInteger } from "../checks.js";
import { Mechanism, oddsField } from "./base.js";

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
