import { BinaryRR } from "./binary_rr.js";

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
