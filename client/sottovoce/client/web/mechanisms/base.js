import { log, parseFraction } from "../rational.js";

/**
 * What a mechanism is: a finite channel with integer weights. It knows nothing of randomness or data.
 *
 * A subclass has `static mechanismName`, `static questionTypes`, `static parse(fields, inputs)`, `inputs`, `largest`,
 * `weights(value)`, `odds` and `explain()`, which gives the numbers for the catalogue's sentence `odds_<name>`: each a
 * whole number, or a share `{ part, of }`.
 */
export class Mechanism {
  /** The mechanism's name in a survey. */
  get name() {
    return this.constructor.mechanismName;
  }

  /** The privacy loss of one report: ln(odds). */
  get epsilon() {
    return log(this.odds);
  }
}

/** Check that `fields` holds `name` and exactly `names`. */
export function exactFields(fields, names) {
  const given = Object.keys(fields).filter((key) => key !== "name");
  if (given.length !== names.length || !names.every((name) => given.includes(name))) {
    throw new RangeError(`the parameters of this mechanism are: ${names.join(", ")}`);
  }
}

/** The fraction in `fields[name]`; an error names the parameter. */
export function fractionField(fields, name) {
  try {
    return parseFraction(fields[name]);
  } catch (error) {
    throw new RangeError(`${name} ${error.message}`);
  }
}
