/**
 * What a question type is: how its true values are described and answered. A subclass has `static` members only:
 *
 * `typeName`; `truth`, the kind of its true values, by which mechanisms and the form go; `domain(fields, names)`, the
 * true values that a canonical document describes; `encode(domain, answer)`, the true value of an answer, where a
 * RangeError repeats nothing of it; `holds(domain, value)`, whether that is a true value: what a randomizer's epsilon
 * counts on.
 */
export class QuestionType {
  /** The keys that describe its true values; the canonical survey has all of them. */
  static keys = [];

  /** The one of them that lists options or coordinates, or "". */
  static listKey = "";

  /** How many of these there may be. */
  static mostChoices = 1000;

  /** Whether `absent_category` can add an option, and a public question can be the cohort. */
  static takesCategory = false;

  /** Whether the question can be asked openly. */
  static mayBePublic = true;

  /** One value, so that it can be a row of a matrix, and be named by conditions. */
  static single = true;

  /** Whether its options stand in a row where there is room. */
  static sideBySide = false;

  /** Refuse, by a RangeError, an answer that may not stand for no answer, or is not in its one spelling. */
  static checkAbsent() {}
}

/** Whether this is a whole number from 0 to `bound` - 1. */
export function isBelow(value, bound) {
  return Number.isInteger(value) && value >= 0 && value < bound;
}
