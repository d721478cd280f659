import { must, parseFraction } from "../rational.js";

/**
 * What a mechanism is: a finite channel with integer weights. It knows nothing of randomness or data.
 *
 * A subclass has `static mechanismName`, `static questionTypes`, `epsilon`, `largest` (the largest value of a report),
 * what its randomizer draws from, and `explain()`: the numbers for the catalogue's sentence `odds_<name>`, each a whole
 * number or a share [part, whole]. The maths is in the Python twin.
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
}

/** The odds r/s in `fields.odds`, as [r, s]; they are above 1. */
export function oddsField(fields) {
  const [near, far] = parseFraction(fields.odds);
  must(near > far);
  return [near, far];
}
