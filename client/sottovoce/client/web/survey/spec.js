import { dumpCanonical } from "./canonical.js";
import { AnswerError } from "./errors.js";
import { isDelayed } from "./known.js";
import { sum } from "./rational.js";
import { isShown } from "./visibility.js";

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

/** The format of a survey. */
export const SURVEY_FORMAT = "sottovoce-survey/1";

/**
 * A published survey: the fields of its document, what it shows (`items`), what is reported (`questions`), and the
 * digest of the bytes received.
 */
export class Survey {
  #text;

  constructor(document, items, digest) {
    this.document = document;
    this.name = document.name;
    this.revision = document.revision;
    this.defaultLanguage = document.default_language;
    this.title = document.title;
    this.description = document.description;
    this.consent = document.consent;
    // Who asks, shown first; what is said about the protection of data; undefined for nothing.
    this.researcher = document.researcher;
    this.notice = document.notice;
    // Whether one question about the protection is a step of its own, before the questions.
    this.check = document.check ?? true;
    // The title of the tab, where the own one would tell too much.
    this.neutralTitle = document.neutral_title;
    // Whether every step offers to leave at once: see `leaving.js`.
    this.quickExit = document.quick_exit;
    // True if the device may be handed round: see `kiosk.js`.
    this.kiosk = document.kiosk;
    // Text or link shown with the receipt, the same for everybody; undefined for none.
    this.after = document.after;
    this.access = document.access;
    // Whether each report brings a signature of its id, by the key of its wave: see `readBlind` for the moduli.
    this.isBlind = typeof document.access === "object";
    // Whether the device waits before it sends: see `waiting.js`.
    this.isDelayed = isDelayed(document.privacy);
    // The day on which the aggregator deletes everything about the survey, as the document has it; null for by hand.
    this.deleteOn = document.retention.delete_on ?? null;
    // How many times it is asked.
    this.waves = document.waves?.length ?? 1;
    // How many of the private questions each respondent is asked; null for all of them.
    this.ask = document.ask ?? null;
    this.ownCoin = document.privacy.procedure === "own_coin";
    this.items = items;
    this.questions = items.flatMap((item) => item.questions);
    this.digest = digest;
  }

  /** The text that it was read from, written anew when it is first needed: it does not change. */
  get text() {
    return (this.#text ??= dumpCanonical(this.document));
  }

  /** The privacy loss of one whole report: the sum over its questions. */
  get epsilon() {
    return sum(this.#charges);
  }

  // What each question adds: a block is charged once, with its first one.
  get #charges() {
    return this.questions.map(({ epsilon, mechanism }) => (mechanism?.position ? 0 : epsilon));
  }

  /** The part of it that each wave's report is charged anew. */
  get epsilonOfWave() {
    if (this.memoized.length === 0) return this.epsilon;
    return sum(this.#charges.filter((_, index) => !this.memoized.includes(index)));
  }

  /** Indices of the questions of which the device remembers a draw. */
  get memoized() {
    return [...this.questions.keys()].filter((index) => this.questions[index].mechanism?.waves > 1);
  }

  /** Indices of the questions that are randomized, of which `ask` leaves some out. */
  get private() {
    return [...this.questions.keys()].filter((index) => this.questions[index].mechanism !== null);
  }

  /** Whether a person may be asked so much that it comes in sections. */
  get isLong() {
    return this.items.length > 12;
  }

  /** The questions that are not shown to everybody. */
  get conditional() {
    const items = this.items.filter(({ anyOf, visibleIf }) => anyOf.length + visibleIf.length > 0);
    return items.flatMap((item) => item.questions);
  }

  /**
   * The true values, in the order of a report; null for the questions whose indices are not in `asked`. What is hidden
   * or not answered (null, or no entry) has its question's fixed value; an error repeats no answer.
   */
  encode(answers, asked = [...this.questions.keys()]) {
    const names = this.questions.map((question) => question.name);
    if (!Object.keys(answers).every((name) => names.includes(name))) throw new AnswerError("error_unexpected");
    const given = new Map();
    return this.items.flatMap((item) => {
      const shown = isShown(item.visibleIf, item.anyOf, given);
      return item.questions.map((question) => {
        if (!asked.includes(this.questions.indexOf(question))) return null;
        const answer = shown && Object.hasOwn(answers, question.name) ? (answers[question.name] ?? null) : null;
        const value = question.encode(answer);
        if (answer !== null) given.set(question.name, value);
        return value;
      });
    });
  }
}
