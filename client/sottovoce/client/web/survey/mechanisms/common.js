import { MAX_DENOMINATOR, lcm, log, must, parseFraction } from "../rational.js";
import { readFields } from "../checks.js";

/**
 * What a mechanism is: a finite channel with integer weights. It knows nothing of randomness or data.
 *
 * A subclass has `static mechanismName`, `static serves` (the kind of true values that it takes), `static reportKind`
 * (what its reports are), `epsilon`, `largest` (the largest value of a report), what its randomizer draws from, and
 * `explain()`: the numbers for the catalogue's sentence `odds_<report kind>`, each a whole number or a share
 * [part, whole]. The lists of kinds and the maths are in the Python twins.
 */
export class Mechanism {
  /** In how many waves one draw that the device remembers is used; 1 if it remembers none. */
  waves = 1;

  /** The mechanism that `fields` describe, for a question with these true values; RangeError if impossible. */
  static parse(fields, domain) {
    return new this(fields, domain);
  }

  /** The mechanism's name in a survey. */
  get name() {
    return this.constructor.mechanismName;
  }

  /** What its reports are; from this follow the words for them. */
  get reportKind() {
    return this.constructor.reportKind;
  }
}

/** The odds r/s in `fields.odds`, as [r, s]; they are above 1. */
export function oddsField(fields) {
  const [near, far] = parseFraction(fields.odds);
  must(near > far);
  return [near, far];
}

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
