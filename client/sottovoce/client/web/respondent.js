import { dumpCanonical } from "./canonical.js";
import { Draws } from "./draws.js";
import { BudgetExhausted, TransportError } from "./errors.js";
import { recorded } from "./ledger.js";
import { load } from "./loading.js";
import { loadSurvey } from "./parsing.js";
import { showEpsilon } from "./rational.js";
import { dumpReport, expectedReceipt, parseReport } from "./report.js";
import { onTick } from "./tick.js";

/** The epsilon that a person allows: for one question, and for one whole report. */
export const ALLOWANCE = { question: 3, total: 8 };

/**
 * One person and one survey, and the life of an answer on one page:
 *
 *     answer -> encode -> randomize -> record || report -> submit
 *
 * Left of the bars the true answers exist, in this page's memory and nowhere else. Right of them there is only the
 * drawn report.
 */
export class Respondent {
  #transport;
  #ledger;
  #draws;
  #wave;
  #tick;
  #key;

  /**
   * @throws {BudgetExhausted} the survey asks for more than is allowed
   * @throws {TransportError} the survey asks for a token and there is none
   */
  constructor(survey, transport, ledger, options = {}) {
    const { draws = new Draws(), allowance = ALLOWANCE, wave = 0, token = "", tick = onTick } = options;
    this.survey = survey;
    this.#transport = transport;
    this.#ledger = ledger;
    this.#draws = draws;
    this.#wave = wave;
    this.#tick = tick;
    if (survey.access === "token" && !token) throw new TransportError("error_token");
    // A survey that is open to all ignores a token: it would only buy a second draw.
    this.#key = [transport.origin, survey.name, wave, survey.access === "token" ? token : ""];
    checkBudget(survey, allowance);
  }

  /**
   * A respondent for the survey that a link names; refuses a survey that is another one. `link.held` is its canonical
   * bytes, where the page holds them.
   *
   * @throws {TransportError} unreachable, or another survey than the link's digest names
   * @throws {SpecError} what is sent is not a survey
   */
  static async connect(link, transport, ledger, options = {}) {
    const survey = await loadSurvey(link.held ?? (await transport.fetchSurvey(link.survey)));
    if (survey.name !== link.survey || !survey.digest.startsWith(link.digest)) {
      throw new TransportError("error_other_survey");
    }
    return new Respondent(survey, transport, ledger, { ...options, token: link.token });
  }

  /** Under which the ledger knows the report. */
  get key() {
    return this.#key;
  }

  /** The entry of the report that was already drawn, or null; once drawn, answers would change nothing. */
  async drawn() {
    return recorded(this.#ledger, this.#key, this.survey.digest);
  }

  /**
   * Randomize the answers (option name by question name) once, record the report, send it on the next tick.
   *
   * @throws {AnswerError} an answer is missing or unknown; nothing was drawn
   * @throws {LoadError} the randomizers did not arrive; nothing was drawn
   * @throws {TransportError} not acknowledged; call `send` later, it sends the same bytes
   */
  async answer(answers) {
    await this.#tick(() => this.#draw(answers));
    return this.send();
  }

  async #draw(answers) {
    if ((await this.drawn()) !== null) return;
    const values = encode(this.survey, answers);
    const { randomize } = await load("later");
    const report = randomize(this.survey, values, this.#draws, this.#wave);
    const body = dumpReport(report, this.survey);
    const { digest, epsilon } = this.survey;
    await this.#ledger.record(this.#key, { digest, epsilon, body, sent: false });
  }

  /** Send the recorded report, first time or again: the same bytes. Gives the receipt and the body. */
  async send() {
    const entry = await this.drawn();
    if (entry === null) throw new BudgetExhausted("error_unexpected");
    const expected = await expectedReceipt(entry.body);
    const receipt = await this.#transport.submit(this.survey.name, entry.body, this.#key[3]);
    if (dumpCanonical(receipt) !== dumpCanonical(expected)) throw new TransportError("error_receipt");
    await this.#ledger.markSent(this.#key);
    return { ...expected, body: entry.body };
  }

  /**
   * Take the recorded report back. Asking twice does no harm; the ledger keeps that there was one.
   *
   * @throws {TransportError} not confirmed: it may still count
   */
  async withdraw() {
    const { report_id } = parseReport((await this.drawn()).body);
    const expected = { format: "sottovoce-withdrawal/1", survey: this.survey.name, report_id };
    const confirmation = await this.#transport.withdraw(this.survey.name, report_id);
    if (dumpCanonical(confirmation) !== dumpCanonical(expected)) throw new TransportError("error_receipt");
    await this.#ledger.end(this.#key, "withdrawn");
  }

  /** Wipe what was sent from this device's memory; what stays says that somebody answered, and buys no second draw. */
  async forget() {
    await this.#ledger.end(this.#key, "forgotten");
  }

  /** Total epsilon of all reports drawn in this browser for this aggregator. */
  async spent() {
    return this.#ledger.total(this.#transport.origin);
  }
}

/** The true values, in the survey's order; an error names the question, never the answer. */
export function encode(survey, answers) {
  return survey.encode(answers);
}

function checkBudget(survey, allowance) {
  for (const { epsilon, name } of survey.questions) within(epsilon, allowance.question, "error_question_budget", name);
  within(survey.epsilon, allowance.total, "error_total_budget");
}

function within(epsilon, limit, sentence, question) {
  // Written so that an epsilon or a limit that is not a number refuses.
  if (!(epsilon <= limit)) throw new BudgetExhausted(sentence, { epsilon: showEpsilon(epsilon), limit, question });
}
