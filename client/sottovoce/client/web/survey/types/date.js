import { Grid } from "../grid.js";
import { must } from "../rational.js";
import { IntegerType, WHOLE } from "./integer.js";

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
