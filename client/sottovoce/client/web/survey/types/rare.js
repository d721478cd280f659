import { Domain, MAX_MASK_OPTIONS, bitsOf, maskOf } from "../answers.js";
import { readInteger } from "../checks.js";
import { must } from "../rational.js";
import { QuestionType, isBelow, optionIndex } from "./common.js";
import { Grid } from "../grid.js";

/** Some of the options, answered by a list of names; the true value is a bit mask. */
export class SelectMultipleType extends QuestionType {
  static typeName = "select_multiple";
  static truth = "options";
  static keys = ["choices", "max_choices"];
  static listKey = "choices";
  static mostChoices = MAX_MASK_OPTIONS;
  static mayBePublic = false;

  /** The options, and how many of them may be chosen. */
  static domain(fields, names) {
    return new Domain(names, null, readInteger(fields.max_choices, 1, names.length));
  }

  /** The mask of the options that are named. */
  static encode(domain, answer) {
    must(Array.isArray(answer) && new Set(answer).size === answer.length && answer.length <= domain.maxChoices);
    return maskOf(answer.map((name) => optionIndex(domain, name)));
  }

  /** A mask of no more options than may be chosen. */
  static holds(domain, value) {
    return isBelow(value, 2 ** domain.size) && bitsOf(value, domain.options).length <= domain.maxChoices;
  }

  /** Only the empty set: any other one would be taken for a choice. */
  static checkAbsent(domain, answer) {
    must(answer.length === 0);
  }
}

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

const MILLISECONDS = 86_400_000;
const ISO_DAY = /^(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}$/;

/** The days low, low + step, ..., high, counted from 1970-01-01, of the years 1 to 9999; in billionths. */
export class DayGrid extends Grid {
  /** The day of an ISO date. */
  static read(answer) {
    must(typeof answer === "string" && ISO_DAY.test(answer));
    const days = Date.parse(`${answer}T00:00:00Z`) / MILLISECONDS;
    must(Number.isInteger(days));
    const day = BigInt(days) * WHOLE;
    // Some browsers take the 30th of February for a day in March.
    must(this.write(day) === answer);
    return day;
  }

  /** The ISO date of a day. */
  static write(number) {
    return new Date(Number(number / WHOLE) * MILLISECONDS).toISOString().slice(0, 10);
  }
}

/** One of the days from `min` to `max`, every `step` days. */
export class DateType extends IntegerType {
  static typeName = "date";
  static grid = DayGrid;
  static sentences = ["date_note", "date_fault"];

  /** The browser's own calendar knows the bounds. */
  static field(grid) {
    return { type: "date", min: grid.text(0), max: grid.text(grid.steps) };
  }
}

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
