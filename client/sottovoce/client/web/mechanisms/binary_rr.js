import { MAX_DENOMINATOR, complement, divide, lcm, less } from "../rational.js";
import { Mechanism, exactFields, fractionField } from "./base.js";

/** Yes/no with P(report yes | yes) = a and P(report yes | no) = b; the maths is in the Python twin. */
export class BinaryRR extends Mechanism {
  static mechanismName = "binary_rr";
  static questionTypes = ["boolean"];

  inputs = 2;
  largest = 1;

  constructor(a, b) {
    super();
    this.a = a;
    this.b = b;
    if (a.numerator >= a.denominator || b.numerator <= 0n || !less(b, a)) {
      throw new RangeError("a and b must satisfy 0 < b < a < 1");
    }
    const denominator = lcm(a.denominator, b.denominator);
    if (denominator > MAX_DENOMINATOR) throw new RangeError("the common denominator of a and b must not exceed 2^32");
    this.denominator = Number(denominator);
  }

  /** `{ name: "binary_rr", a: "3/4", b: "1/4" }`; presets are for authors and never reach a device. */
  static parse(fields, inputs) {
    if (inputs !== 2) throw new RangeError("this mechanism serves questions with two answers");
    exactFields(fields, ["a", "b"]);
    return new BinaryRR(fractionField(fields, "a"), fractionField(fields, "b"));
  }

  /** [no, yes] when the truth is `value`: 0 for no, 1 for yes. */
  weights(value) {
    const { numerator, denominator } = value ? this.a : this.b;
    const yes = Number(numerator) * (this.denominator / Number(denominator));
    return [this.denominator - yes, yes];
  }

  /** max(a/b, (1-b)/(1-a)). */
  get odds() {
    const [yes, no] = [divide(this.a, this.b), divide(complement(this.b), complement(this.a))];
    return less(yes, no) ? no : yes;
  }

  /** How many send yes: of those whose answer is yes, of those whose answer is no. */
  explain() {
    return {
      yes: { part: this.weights(1)[1], of: this.denominator },
      no: { part: this.weights(0)[1], of: this.denominator },
    };
  }
}
