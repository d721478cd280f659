import { Domain, MAX_MASK_OPTIONS, bitsOf, maskOf } from "../answers.js";
import { readInteger } from "../checks.js";
import { must } from "../rational.js";
import { QuestionType, isBelow } from "./base.js";
import { optionIndex } from "./select_one.js";

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
