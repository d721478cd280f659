import { MAX_MASK_OPTIONS } from "../answers.js";
import { must } from "../rational.js";
import { BinaryRR } from "./binary_rr.js";

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
