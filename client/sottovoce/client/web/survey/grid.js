import { MAX_DENOMINATOR, dumpDecimal, must, parseDecimal } from "./rational.js";

/** The numbers low, low + step, ..., high; all three in billionths. */
export class Grid {
  constructor(low, high, step) {
    must(step > 0n && low < high);
    must((high - low) % step === 0n);
    this.steps = Number((high - low) / step);
    must(this.steps <= MAX_DENOMINATOR);
    Object.assign(this, { low, high, step });
  }

  /** The number that an answer or a bound says, in billionths. */
  static read(answer) {
    return parseDecimal(answer);
  }

  /** Its one canonical spelling. */
  static write(number) {
    return dumpDecimal(number);
  }

  /** How many steps an answer lies above the least value. */
  index(answer) {
    const above = this.constructor.read(answer) - this.low;
    must(above % this.step === 0n && above >= 0n && above <= this.high - this.low);
    return Number(above / this.step);
  }

  /** The same, of a number in its one spelling. */
  exactIndex(answer) {
    const step = this.index(answer);
    must(this.text(step) === answer);
    return step;
  }

  /** Whether an answer is one of the numbers. */
  has(answer) {
    try {
      return this.index(answer) >= 0;
    } catch {
      return false;
    }
  }

  /** The number that lies so many steps above the least value, as text. */
  text(steps) {
    return this.constructor.write(this.low + BigInt(steps) * this.step);
  }
}
