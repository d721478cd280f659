import { MAX_DENOMINATOR, log, must } from "../rational.js";
import { readFields } from "../checks.js";
import { Mechanism, oddsField } from "./base.js";

/** One of k categories, kept with odds to one against each other category. */
export class KaryRR extends Mechanism {
  static mechanismName = "kary_rr";
  static serves = "option";
  static reportKind = "option";

  /** `{ name: "kary_rr", odds: "3" }`. */
  constructor(fields, { size }) {
    super();
    readFields(fields, ["name", "odds"]);
    this.odds = oddsField(fields);
    const [own, other] = this.odds;
    this.whole = own + other * (size - 1);
    must(this.whole <= MAX_DENOMINATOR);
    this.largest = size - 1;
    this.epsilon = log(own, other);
  }

  /** One weight per category when the truth is category `value`. */
  weights(value) {
    const [own, other] = this.odds;
    return Array(this.largest + 1).fill(other).fill(own, value, value + 1);
  }

  /** How many send their own answer, how many each one of the others. */
  explain() {
    const [own, other] = this.odds;
    return { own: [own, this.whole], other: [other, this.whole] };
  }
}
