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

  /** How many steps an author's number lies above the least value; it is on the grid, and in its one spelling. */
  exactIndex(answer) {
    const step = this.nearest(answer);
    must(this.text(step) === answer);
    return step;
  }

  /**
   * How many steps the number nearest to an answer lies above the least value; of two, the even number. Exact: an
   * honest answer between two steps is rounded before anything is randomized.
   */
  nearest(answer) {
    const above = this.constructor.read(answer) - this.low;
    must(above >= 0n && above <= this.high - this.low);
    const [below, rest] = [above / this.step, (above % this.step) * 2n];
    const isUp = rest > this.step || (rest === this.step && below % 2n === 1n);
    return Number(below + (isUp ? 1n : 0n));
  }

  /** The nearest number to an answer as text; null where the answer is out of range or no number. */
  counted(answer) {
    try {
      return this.text(this.nearest(answer));
    } catch {
      return null;
    }
  }

  /** The number that lies so many steps above the least value, as text. */
  text(steps) {
    return this.constructor.write(this.low + BigInt(steps) * this.step);
  }
}
