/**
 * Every error that the page raises on purpose; anything else that escapes is a bug.
 *
 * `sentence` is a key of the catalogue, `values` fill its placeholders. Neither ever holds an answer, a drawn byte
 * or a token.
 */
export class SurveyError extends Error {
  code = "error";

  constructor(sentence, values = {}) {
    super(sentence);
    this.sentence = sentence;
    this.values = values;
  }
}

/** The survey itself is wrong; `pointer` says where, as a JSON pointer. */
export class SpecError extends SurveyError {
  code = "spec_invalid";

  constructor(pointer) {
    super("error_spec", { pointer: pointer || "/" });
  }
}

/** The answer is not in the question's domain; no message repeats it. */
export class AnswerError extends SurveyError {
  code = "answer_invalid";
}

/** The survey asks for more epsilon than the respondent allows, or for a second draw. */
export class BudgetExhausted extends SurveyError {
  code = "budget_exhausted";
}

/** The key `elsewhere` has an unaccepted report with another token; the person must say first whose it is. */
export class DrawnElsewhere extends BudgetExhausted {
  constructor(elsewhere) {
    super("same_person_note");
    this.elsewhere = elsewhere;
  }
}

/** A report waits for its moment, `sendAt` in seconds since 1970; nothing was sent. */
export class NotYet extends SurveyError {
  constructor(sendAt) {
    super("later_title");
    this.sendAt = sendAt;
  }
}

/** A part of the page did not arrive; trying again may help. */
export class LoadError extends SurveyError {
  code = "load";

  constructor() {
    super("error_load");
  }
}

/** The refusals that a wait may end: too slow, too early, too many. */
export const PASSING = [408, 425, 429];

/** The aggregator could not be reached, or refused: `status` is the HTTP status, `reason` its problem's code. */
export class TransportError extends SurveyError {
  code = "transport";

  constructor(sentence, status = null, reason = null) {
    super(sentence);
    this.status = status;
    this.reason = reason;
  }

  /** Whether the aggregator has refused for good, so that trying again would change nothing. */
  get isFinal() {
    return this.status >= 400 && !this.isPassing;
  }

  /** Whether trying again later may help: no answer, or one that says so. */
  get isPassing() {
    return this.sentence === "error_unreachable" || this.status >= 500 || PASSING.includes(this.status);
  }
}
