import { BinaryRR } from "./binary_rr.js";

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
