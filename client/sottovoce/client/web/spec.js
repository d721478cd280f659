import { AnswerError } from "./errors.js";

/** The format of a survey. */
export const SURVEY_FORMAT = "sottovoce-survey/1";

/** The options of a yes/no question, in the order of their values 0 and 1. */
export const BOOLEAN_OPTIONS = ["no", "yes"];

/**
 * One question: `name`, `type`, `label`, `hint` (texts by language tag), `choices` ({ name, label } in the order of
 * their values), `mechanism` (null if the question is public), `cohort`.
 */
export class Question {
  constructor(fields) {
    Object.assign(this, fields);
  }

  /** The names of the possible answers, in the order of their values. */
  get options() {
    return this.type === "boolean" ? BOOLEAN_OPTIONS : this.choices.map((choice) => choice.name);
  }

  /** Number of true values: 0 .. inputs - 1. */
  get inputs() {
    return this.mechanism === null ? this.options.length : this.mechanism.inputs;
  }

  /** The largest value that a report may carry for this question. */
  get largest() {
    return this.mechanism === null ? this.options.length - 1 : this.mechanism.largest;
  }

  /** The privacy loss of one report; 0 for a public question, which is not private at all. */
  get epsilon() {
    return this.mechanism === null ? 0 : this.mechanism.epsilon;
  }

  /** The value of an answer, given by its option's name. */
  encode(answer) {
    const value = this.options.indexOf(answer);
    this.check(value);
    return value;
  }

  /** Refuse what is no true value: such a value could be reported with odds that epsilon does not cover. */
  check(value) {
    const holds = Number.isInteger(value) && value >= 0 && value < this.inputs;
    if (!holds) throw new AnswerError("error_answer", { question: this.name });
  }
}

/** A published survey: the fields of its document, its parsed questions, and the digest of the bytes received. */
export class Survey {
  constructor(document, questions, digest) {
    this.name = document.name;
    this.defaultLanguage = document.default_language;
    this.title = document.title;
    this.description = document.description ?? null;
    this.consent = document.consent ?? null;
    this.access = document.access;
    this.questions = questions;
    this.digest = digest;
  }

  /** The privacy loss of one whole report: the sum over its questions. */
  get epsilon() {
    return this.questions.reduce((sum, question) => sum + question.epsilon, 0);
  }
}
