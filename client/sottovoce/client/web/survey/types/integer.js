import { must } from "../rational.js";
import { DecimalType } from "./decimal.js";

/** One, in the billionths that a grid counts in. */
export const WHOLE = 1_000_000_000n;

/** A whole number on a grid. */
export class IntegerType extends DecimalType {
  static typeName = "integer";
  static inputMode = "numeric";

  /** Bounds and step are whole. */
  static bound(grid, text) {
    const number = super.bound(grid, text);
    must(number % WHOLE === 0n);
    return number;
  }
}
