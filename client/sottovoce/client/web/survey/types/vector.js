import { must } from "../rational.js";
import { isBelow } from "./base.js";
import { BOUNDS, DecimalType } from "./decimal.js";

/** Several numbers on one grid, answered by a map; the true value is a list of steps, in their order. */
export class VectorType extends DecimalType {
  static typeName = "vector";
  static truth = "numbers";
  static keys = ["coordinates", ...BOUNDS];
  static listKey = "coordinates";
  static mayBePublic = false;
  static single = false;

  /** The steps of all coordinates. */
  static encode({ grid, options }, answer) {
    const names = Object.keys(answer ?? {});
    must(names.length === options.length && options.every((name) => names.includes(name)));
    return options.map((name) => grid.nearest(answer[name]));
  }

  /** As many numbers of steps as there are coordinates. */
  static holds({ options, size }, value) {
    return Array.isArray(value) && value.length === options.length && [...value].every((step) => isBelow(step, size));
  }

  /** Each number must be in its one spelling. */
  static checkAbsent({ grid }, answer) {
    Object.values(answer).forEach((text) => grid.exactIndex(text));
  }
}
