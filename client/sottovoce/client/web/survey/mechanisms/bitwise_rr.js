import { Bits } from "./bits.js";

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
