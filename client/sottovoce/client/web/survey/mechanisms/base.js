import { must, parseFraction } from "../rational.js";

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
