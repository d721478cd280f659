import { readFields } from "../checks.js";
import { log } from "../rational.js";
import { oddsField } from "./base.js";
import { Bits } from "./bits.js";

/** A bit for each of k options: the true one's is set by a fair coin, any other's once in g + 1 times. */
export class OptimalUnary extends Bits {
  static mechanismName = "optimal_unary";
  static serves = "option";

  /** `{ name: "optimal_unary", odds: "3" }`. */
  constructor(fields, { size }) {
    readFields(fields, ["name", "odds"]);
    const [near, far] = oddsField(fields);
    super({ name: fields.name, a: "1/2", b: `${far}/${near + far}` }, size);
    this.epsilon = log(near, far);
  }

  /** The true option alone. */
  selectedBits(value) {
    return 2 ** value;
  }
}
