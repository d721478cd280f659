import { DrawnElsewhere } from "../survey/errors.js";
import { deliver, withdrawReport } from "./delivery.js";
import { memoKey } from "./entries.js";
import { bringRandomizers, randomize } from "./randomize.js";
import { dumpReport, expectedReceipt } from "../survey/report.js";
import { atSendTime } from "./send_time.js";

/**
 * What becomes of a respondent's answers:
 *
 *     answer -> encode -> randomize -> record || report -> submit
 *
 * Left of the bars the true answers exist, in this page's memory and nowhere else. Right of them there is only the
 * drawn report.
 */
export class AnswerPath {
  #respondent;
  #sendTime;

  /** `sendTime` does the work that touches answers, and comes back at a moment that says nothing about it. */
  constructor(respondent, sendTime = atSendTime) {
    this.#respondent = respondent;
    this.#sendTime = sendTime;
  }

  /**
   * Randomize the answers (option name by question name, for every question that is asked) once, record the report,
   * send it at the next send time. An answer to a question that is not asked is not looked at. `isSomebodyElse` is said
   * by who did not draw the report that lies here with another token.
   *
   * @throws {DrawnElsewhere} whose that report is has not been said; nothing was drawn
   * @throws {AnswerError} an answer is missing or unknown; nothing was drawn
   * @throws {LoadError} a part of the page did not arrive; nothing was drawn
   * @throws {TransportError} not acknowledged; call `send` later, it sends the same bytes
   */
  async answer(answers, isSomebodyElse = false) {
    await this.#sendTime(() => this.#draw(answers, isSomebodyElse));
    return this.send();
  }

  async #draw(answers, isSomebodyElse) {
    if ((await this.#respondent.drawn()) !== null) return;
    const { survey } = this.#respondent;
    const signed = survey.isBlind ? await (await import("./redemption.js")).signedId(this.#respondent) : {};
    // Where it is null, another tab was faster.
    if (signed !== null) await this.#drawWith(signed, answers, isSomebodyElse);
  }

  async #drawWith(signed, answers, isSomebodyElse) {
    const { draws, key, ledger, survey } = this.#respondent;
    // Before the memo, which is charged; and once more where the report is recorded, since another tab may be drawing.
    const isOnlyOne = key[3] !== "" && !isSomebodyElse;
    const [other] = isOnlyOne ? await ledger.unaccepted(key) : [];
    if (other !== undefined) throw new DrawnElsewhere(other);
    const arm = await this.#respondent.arm();
    const truths = encode(survey, arm ? { ...answers, arm } : answers, await this.#respondent.asked());
    const memo = survey.memoized.length ? await (await import("./memo.js")).keepMemo(this.#respondent) : null;
    await bringRandomizers(survey);
    const body = dumpReport(randomize(survey, truths, draws, key[2], memo, signed), survey);
    const drawn = { digest: survey.digest, epsilon: survey.epsilonOfWave, body, sent: false };
    const entry = { ...drawn, ...(await this.#alongside(signed)) };
    await ledger.record(key, entry, survey.text, isOnlyOne);
    if (signed.signature) await (await import("./redemption.js")).forgetSignature(ledger, key);
  }

  // What goes with a report that is signed, and with one that waits for a moment, which is drawn after the answers.
  async #alongside({ signature }) {
    const { draws, key, survey } = this.#respondent;
    const sendAt = survey.isDelayed && (await import("./waiting.js")).drawSendAt(survey, key[2], draws);
    return { ...(signature && { signature }), ...(sendAt && { sendAt }) };
  }

  /** Send the recorded report, first time or again: the same bytes. Gives the receipt and the body. */
  async send() {
    const { key, ledger, transport } = this.#respondent;
    return deliver(ledger, transport, key);
  }

  /** What the aggregator's receipt said, and the body: told again from what is recorded. */
  async receipt() {
    const { body } = await this.#respondent.drawn();
    return { ...(await expectedReceipt(body)), body };
  }

  /**
   * Take the recorded report back. Asking twice does no harm; the ledger keeps that there was one.
   *
   * @throws {TransportError} not confirmed: it may still count
   */
  async withdraw() {
    const { key, ledger, transport } = this.#respondent;
    await withdrawReport(ledger, transport, key);
  }

  /** Wipe the sent report from this device. A mark that it existed stays, so that no second draw follows. */
  async forget() {
    const { key, ledger, survey } = this.#respondent;
    await ledger.end(memoKey(key), "forgotten");
    if (survey?.isBlind ?? key[3]) {
      const { redemptionKey } = await import("./redemption.js");
      await ledger.end(redemptionKey(key), "forgotten");
    }
    await ledger.end(key, "forgotten");
  }
}

/** The true values, in the survey's order; null for the questions whose indices are not in `asked`. */
export function encode(survey, answers, asked) {
  return survey.encode(answers, asked);
}
