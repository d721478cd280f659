import { BinaryRR } from "./binary_rr.js";

/** Every one of k options, its bit through the binary channel that this extends. */
export class BitwiseRR extends BinaryRR {
  static mechanismName = "bitwise_rr";
  static serves = "options";
  static reportKind = "bits";

  /** `{ name: "bitwise_rr", a: "3/4", b: "1/4" }`. */
  constructor(fields, { size, maxChoices }) {
    super(fields);
    this.options = size;
    this.largest = 2 ** size - 1;
    // As many bits as may differ in the costlier direction, the rest in the other.
    this.epsilon = maxChoices * Math.max(...this.logs) + Math.min(maxChoices, size - maxChoices) * Math.min(...this.logs);
  }
}
