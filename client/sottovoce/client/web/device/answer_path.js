import { dumpCanonical } from "../survey/canonical.js";
import { BudgetExhausted, TransportError } from "../survey/errors.js";
import { randomize } from "./randomize.js";
import { dumpReport, expectedReceipt, parseReport } from "../survey/report.js";
import { onTick } from "./send_time.js";

/**
 * What becomes of the answers, on behalf of a `Respondent`:
 *
 *     answer -> encode -> randomize -> record || report -> submit
 *
 * Left of the bars the true answers exist, in this page's memory and nowhere else. Right of them there is only the
 * drawn report.
 */
export class Life {
  #respondent;
  #transport;
  #ledger;
  #draws;
  #tick;
  #memo;

  /** `means` is what the respondent was given, and `memo` what it does with what is remembered for all waves. */
  constructor(respondent, { transport, ledger, draws, memo, tick = onTick }) {
    this.#respondent = respondent;
    this.#transport = transport;
    this.#ledger = ledger;
    this.#draws = draws;
    this.#tick = tick;
    this.#memo = memo;
  }

  /**
   * Randomize the answers (option name by question name, for every question in `asked`) once, record the report, send
   * it on the next tick. An answer to a question that is not asked is not looked at.
   *
   * @throws {AnswerError} an answer is missing or unknown; nothing was drawn
   * @throws {LoadError} a part of the page did not arrive; nothing was drawn
   * @throws {TransportError} not acknowledged; call `send` later, it sends the same bytes
   */
  async answer(answers) {
    await this.#tick(() => this.#draw(answers));
    return this.send();
  }

  async #draw(answers) {
    if ((await this.#respondent.drawn()) !== null) return;
    const values = encode(this.#respondent.survey, answers, await this.#respondent.asked());
    const memo = await this.#memo("keepMemo");
    const report = randomize(this.#respondent.survey, values, this.#draws, this.#respondent.key[2], memo);
    const body = dumpReport(report, this.#respondent.survey);
    const { digest, epsilonOfWave: epsilon } = this.#respondent.survey;
    await this.#ledger.record(this.#respondent.key, { digest, epsilon, body, sent: false });
  }

  /** Send the recorded report, first time or again: the same bytes. Gives the receipt and the body. */
  async send() {
    const entry = await this.#respondent.drawn();
    if (entry === null) throw new BudgetExhausted("error_unexpected");
    const expected = await expectedReceipt(entry.body);
    const receipt = await this.#transport.submit(this.#respondent.survey.name, entry.body, this.#respondent.key[3]);
    if (dumpCanonical(receipt) !== dumpCanonical(expected)) throw new TransportError("error_receipt");
    await this.#ledger.markSent(this.#respondent.key);
    return { ...expected, body: entry.body };
  }

  /**
   * Take the recorded report back. Asking twice does no harm; the ledger keeps that there was one.
   *
   * @throws {TransportError} not confirmed: it may still count
   */
  async withdraw() {
    const { report_id } = parseReport((await this.#respondent.drawn()).body);
    const expected = { format: "sottovoce-withdrawal/1", survey: this.#respondent.survey.name, report_id };
    const confirmation = await this.#transport.withdraw(this.#respondent.survey.name, report_id);
    if (dumpCanonical(confirmation) !== dumpCanonical(expected)) throw new TransportError("error_receipt");
    await this.#ledger.end(this.#respondent.key, "withdrawn");
  }

  /** Wipe what was sent from this device's memory; what stays says that somebody answered, and buys no second draw. */
  async forget() {
    await this.#memo("forgetMemo");
    await this.#ledger.end(this.#respondent.key, "forgotten");
  }
}

/** The true values, in the survey's order; null for the questions whose indices are not in `asked`. */
export function encode(survey, answers, asked) {
  return survey.encode(answers, asked);
}
