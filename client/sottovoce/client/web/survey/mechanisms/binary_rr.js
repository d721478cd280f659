import { MAX_DENOMINATOR, lcm, log, must, parseFraction } from "../rational.js";
import { readFields } from "../checks.js";
import { Mechanism } from "./base.js";

/** Yes/no with P(report yes | yes) = a and P(report yes | no) = b. */
export class BinaryRR extends Mechanism {
  static mechanismName = "binary_rr";
  static serves = "yes_no";
  static reportKind = "yes_no";
  largest = 1;

  /** `{ name: "binary_rr", a: "3/4", b: "1/4" }`; presets are for authors and never reach a device. */
  constructor(fields) {
    super();
    readFields(fields, ["name", "a", "b"]);
    const [a, b] = [parseFraction(fields.a), parseFraction(fields.b)];
    const whole = lcm(a[1], b[1]);
    must(whole <= MAX_DENOMINATOR);
    const [yes, no] = [a, b].map(([part, of]) => part * (whole / of));
    must(0 < no && no < yes && yes < whole);
    this.fractions = [...a, ...b];
    this.rows = [[whole - no, no], [whole - yes, yes]];
    this.logs = [log(yes, no), log(whole - no, whole - yes)];
    this.epsilon = Math.max(...this.logs);
  }

  /** Weights of reporting [no, yes] when the truth is 0, for no, or 1, for yes. */
  weights(value) {
    return this.rows[value];
  }

  /** How many report yes: of those whose truth is yes, of those whose truth is no. */
  explain() {
    const [[none, no], [, yes]] = this.rows;
    return { yes: [yes, none + no], no: [no, none + no] };
  }
}
