import { ABSENT, Domain } from "../answers.js";
import { must } from "../rational.js";
import { QuestionType, isBelow } from "./base.js";

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
