import { MAX_DENOMINATOR } from "../rational.js";
import { Mechanism, exactFields, fractionField } from "./base.js";

/** One of k categories, kept with odds to one against each other category; the maths is in the Python twin. */
export class KaryRR extends Mechanism {
  static mechanismName = "kary_rr";
  static questionTypes = ["select_one", "rating"];

  constructor(odds, inputs) {
    super();
    this.odds = odds;
    this.inputs = inputs;
    this.largest = inputs - 1;
    if (inputs < 2) throw new RangeError("this mechanism needs at least two categories");
    if (odds.numerator <= odds.denominator) throw new RangeError("odds must be above 1");
    this.denominator = Number(odds.numerator) + Number(odds.denominator) * (inputs - 1);
    if (this.denominator > MAX_DENOMINATOR) throw new RangeError("the odds make weights that sum to more than 2^32");
  }

  /** `{ name: "kary_rr", odds: "3" }`. */
  static parse(fields, inputs) {
    exactFields(fields, ["odds"]);
    return new KaryRR(fractionField(fields, "odds"), inputs);
  }

  /** One weight per category when the truth is category `value`. */
  weights(value) {
    const [own, other] = [Number(this.odds.numerator), Number(this.odds.denominator)];
    return Array.from({ length: this.inputs }, (_, category) => (category === value ? own : other));
  }

  /** How many send their own answer, how many each one of the others. */
  explain() {
    const [own, other] = this.weights(0);
    return {
      own: { part: own, of: this.denominator },
      other: { part: other, of: this.denominator },
    };
  }
}
