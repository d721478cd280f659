import { Domain } from "../answers.js";
import { Grid } from "../grid.js";
import { must } from "../rational.js";
import { QuestionType, isBelow } from "./base.js";

/** The keys of a grid. */
export const BOUNDS = ["min", "max", "step"];

/** A number on a grid, written as a decimal; the true value is its number of steps above the least one. */
export class DecimalType extends QuestionType {
  static typeName = "decimal";
  static truth = "number";
  static keys = BOUNDS;

  /** What the numbers are on, and how they are written. */
  static grid = Grid;

  /** The catalogue's sentences: what may be answered, and what to do if an answer does not fit. */
  static sentences = ["number_note", "number_fault"];

  /** The properties of the field in which it is typed. */
  static field(grid) {
    // Some telephones' number pads have no minus sign.
    return { type: "text", inputMode: grid.low < 0n ? "text" : this.inputMode };
  }

  /** The keys that a telephone shows. */
  static inputMode = "decimal";

  /** The grid; of each coordinate, where there are names. */
  static domain(fields, names) {
    const [low, high] = [fields.min, fields.max].map((text) => this.bound(this.grid, text));
    // The step is a plain number, also where the bounds are written in another way.
    return new Domain(names, new this.grid(low, high, this.bound(Grid, fields.step)));
  }

  /** A bound or a step in its one spelling. */
  static bound(grid, text) {
    const number = grid.read(text);
    must(grid.write(number) === text);
    return number;
  }

  /** The number of steps, of the nearest step. */
  static encode(domain, answer) {
    return domain.grid.nearest(answer);
  }

  /** A number of steps. */
  static holds(domain, value) {
    return isBelow(value, domain.size);
  }

  /** The number must be in its one spelling. */
  static checkAbsent(domain, answer) {
    domain.grid.exactIndex(answer);
  }
}
