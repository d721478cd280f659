import { encodeAnswer, holds } from "./answers.js";
import { AnswerError } from "./errors.js";
import { sum } from "./rational.js";
import { isShown } from "./visibility.js";

/** The format of a survey. */
export const SURVEY_FORMAT = "sottovoce-survey/1";

/** The options of a yes/no question, in the order of their values 0 and 1. */
export const BOOLEAN_OPTIONS = ["no", "yes"];

/**
 * One question: `name`, `type`, `label`, `hint` (texts by language tag), `choices` ({ name, label } in the order of
 * their values; of a vector, its coordinates), `domain`, `mechanism` (null if the question is public), `cohort`,
 * `absent` (the true value that stands for no answer; null if there must be one), `neutral` (reports are called A and B).
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

  /** The true value of an answer: a name, a list of names, a number as text, or a map of numbers, by type; null for none. */
  encode(answer) {
    if (answer === null && this.absent !== null) return this.absent;
    try {
      return encodeAnswer(this.type, this.domain, answer);
    } catch (error) {
      throw error instanceof RangeError ? new AnswerError("error_unexpected") : error;
    }
  }

  /** Refuse what is no true value: such a value could be reported with odds that epsilon does not cover. */
  check(value) {
    if (!holds(this.type, this.domain, value)) throw new AnswerError("error_unexpected");
  }
}

/**
 * A published survey: the fields of its document, what it shows (`items`), what is reported (`questions`), and the
 * digest of the bytes received.
 */
export class Survey {
  constructor(document, items, digest) {
    this.name = document.name;
    this.defaultLanguage = document.default_language;
    this.title = document.title;
    this.description = document.description ?? null;
    this.consent = document.consent ?? null;
    this.access = document.access;
    this.ownCoin = document.privacy.procedure === "own_coin";
    this.items = items;
    this.questions = items.flatMap((item) => item.questions);
    this.digest = digest;
  }

  /** The privacy loss of one whole report: the sum over its questions. */
  get epsilon() {
    return sum(this.questions.map((question) => question.epsilon));
  }

  /**
   * The true values, in the order of a report. What is hidden or not answered (null, or no entry) has its question's
   * fixed value; an error repeats no answer.
   */
  encode(answers) {
    const names = this.questions.map((question) => question.name);
    if (!Object.keys(answers).every((name) => names.includes(name))) throw new AnswerError("error_unexpected");
    const given = new Map();
    return this.items.flatMap((item) => {
      const shown = isShown(item.visibleIf, given);
      return item.questions.map((question) => {
        const answer = shown && Object.hasOwn(answers, question.name) ? (answers[question.name] ?? null) : null;
        const value = question.encode(answer);
        if (answer !== null) given.set(question.name, value);
        return value;
      });
    });
  }
}
