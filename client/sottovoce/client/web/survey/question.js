import { AnswerError } from "./errors.js";

/**
 * One question: `name`, `type`, `kind` (the behaviour of its type), `label`, `hint` (texts by language tag), `choices`
 * ({ name, label } in the order of their values; of a vector, its coordinates), `domain`, `mechanism` (null if the
 * question is public), `cohort`, `absent` (the true value that stands for no answer; null if there must be one),
 * `neutral` (reports are called A and B).
 */
export class Question {
  constructor(fields) {
    Object.assign(this, fields);
  }

  /** The names of the options, in the order of their values; of a vector, those of its coordinates. */
  get options() {
    return this.domain.options;
  }

  /** The largest value that a report may carry for this question. */
  get largest() {
    return this.mechanism === null ? this.domain.size - 1 : this.mechanism.largest;
  }

  /** The privacy loss of one report; 0 for a public question, which is not private at all. */
  get epsilon() {
    return this.mechanism === null ? 0 : this.mechanism.epsilon;
  }

  /** The true value of an answer: by type a name, names, a number as text, a map of numbers; null for none. */
  encode(answer) {
    if (answer === null && this.absent !== null) return this.absent;
    try {
      return this.kind.encode(this.domain, answer);
    } catch (error) {
      throw error instanceof RangeError ? new AnswerError("error_unexpected") : error;
    }
  }

  /** Refuse what is no true value: such a value could be reported with odds that epsilon does not cover. */
  check(value) {
    if (!this.kind.holds(this.domain, value)) throw new AnswerError("error_unexpected");
  }
}
