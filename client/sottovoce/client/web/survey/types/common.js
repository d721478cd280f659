import { ABSENT, Domain } from "../answers.js";
import { must } from "../rational.js";

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

/** One of some options, answered by its name; the true value is its index. */
export class SelectOneType extends QuestionType {
  static typeName = "select_one";
  static truth = "option";
  static keys = ["choices"];
  static listKey = "choices";
  static takesCategory = true;

  /** The options. */
  static domain(fields, names) {
    return new Domain(names);
  }

  /** The option's index; the category for no answer is not named. */
  static encode(domain, answer) {
    return optionIndex(domain, answer);
  }

  /** An option's index. */
  static holds(domain, value) {
    return isBelow(value, domain.size);
  }
}

/** The index of the option with this name. */
export function optionIndex({ absent, options }, name) {
  must(options.includes(name) && !(absent && name === ABSENT));
  return options.indexOf(name);
}

const BOOLEAN_OPTIONS = ["no", "yes"];

/** Yes or no; the true value is 1 for yes. */
export class BooleanType extends SelectOneType {
  static typeName = "boolean";
  static truth = "yes_no";
  static keys = [];
  static listKey = "";

  /** The same for every such question. */
  static domain() {
    return new Domain(BOOLEAN_OPTIONS);
  }
}

/** One of some options in an order, shown side by side. */
export class RatingType extends SelectOneType {
  static typeName = "rating";
  static sideBySide = true;
}
