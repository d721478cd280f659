import { MAX_DENOMINATOR, log, must, parseFraction } from "../rational.js";
import { readFields } from "../checks.js";
import { Mechanism } from "./base.js";

const MAX_STEPS = 1000;

/** A number plus two-sided geometric noise of ratio p/q, kept within its range. */
export class Geometric extends Mechanism {
  static mechanismName = "geometric";
  static serves = "number";
  static reportKind = "number";

  /** `{ name: "geometric", ratio: "9/10" }`. */
  constructor(fields, { steps }) {
    super();
    must(steps <= MAX_STEPS);
    readFields(fields, ["name", "ratio"]);
    const [p, q] = parseFraction(fields.ratio);
    must(0 < p && p < q);
    must(p + q <= MAX_DENOMINATOR);
    // Weights of no noise, noise upwards and downwards; and of stopping and of one step more.
    this.direction = [q - p, p, p];
    this.onward = [q - p, p];
    Object.assign(this, { steps, largest: steps, epsilon: steps * log(q, p) });
  }

  /** How many draw no noise. */
  explain() {
    const [none, p] = this.direction;
    return { exact: [none, none + 2 * p] };
  }
}
