import { sum } from "./rational.js";

/** Name of the category that `absent_category` adds after a question's own options; no answer names it. */
export const ABSENT = "absent";

/** A bit mask of so many options is an exact Number. */
export const MAX_MASK_OPTIONS = 52;

/**
 * The true values of one question: names of its options (of a vector, coordinates), its grid, its largest set, and
 * whether the last option is the one that `absent_category` adds.
 */
export class Domain {
  constructor(options, grid = null, maxChoices = 1, absent = false) {
    Object.assign(this, { options, grid, maxChoices, absent });
  }

  /** Number of options, or of values on the grid. */
  get size() {
    return this.grid === null ? this.options.length : this.grid.steps + 1;
  }

  /** Number of steps of the grid. */
  get steps() {
    return this.size - 1;
  }
}

/** Bit `option` of a mask; JavaScript's own bit operations end at 31. */
export function bitOf(mask, option) {
  return Math.floor(mask / 2 ** option) % 2;
}

/** The mask in which these bits, all different, are set. */
export function maskOf(options) {
  return sum(options.map((option) => 2 ** option));
}

/** The indices of the options whose bits are set. */
export function bitsOf(mask, options) {
  return [...options.keys()].filter((option) => bitOf(mask, option));
}
