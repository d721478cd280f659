import { isEarly } from "../device/entries.js";
import { pause, secondsToWait } from "../device/transport.js";


/**
 * The page from Send to the receipt, and what can be done about what was sent. A respondent who comes back to what was
 * drawn brings no survey.
 */
export class AfterSend {
  #respondent;
  // The survey that is spoken of: of a report, the one that it was drawn for; null if that is not to be had.
  #survey;
  #words;
  #view;
  #forget;
  #hasFailed = false;

  /** `forget` does away with what was chosen. */
  constructor(respondent, words, view, forget) {
    this.#respondent = respondent;
    this.#survey = respondent.survey;
    [this.#words, this.#view, this.#forget] = [words, view, forget];
  }

  /** Randomize and send; `isSomebodyElse` is said by who did not draw the report that lies here with another token. */
  async answer(answers, isSomebodyElse) {
    // Another tab may have been faster; then its report is the one that stands.
    const earlier = await this.#respondent.drawn().catch(() => null);
    if (earlier?.ended) return this.resume(earlier);
    const whose = (other) => this.askWhose(other, () => this.answer(answers, true));
    await this.#send((path) => path.answer(answers, isSomebodyElse), earlier !== null, whose);
  }

  /**
   * What was drawn earlier, in an earlier visit or another tab. A report that was refused is not sent unasked, and
   * cannot be sent again with a used link, or while the survey is closed; `isRefusedNow` says that it just was.
   */
  async resume(entry, isRefusedNow = false) {
    this.#forget();
    await this.#speakOf(entry);
    if (entry.ended) return this.#show((await import("./steps/withdraw.js")).endedStep, entry);
    if (entry.sent) return this.#receipt(await (await this.#path()).receipt(), true);
    const isShut = entry.refused === "token_invalid" || (isRefusedNow && entry.refused === "closed");
    const act = { again: isShut ? null : () => this.sendAgain(), end: (how) => this.#end(how) };
    if (isEarly(entry)) return this.#show((await import("./steps/later.js")).laterStep, entry, act);
    if (!entry.refused) return this.sendAgain();
    this.#show((await import("./steps/refused.js")).refusedStep, entry, act);
  }

  /** A report that was not accepted lies under the key `other`: who drew it sends it; others go on with `onNo`. */
  async askWhose(other, onNo) {
    const { samePersonStep } = await import("./steps/refused.js");
    await this.#words.speak(this.#survey);
    const [yes, no] = [() => this.#takeOver(other), onNo].map((work) => () => this.#view.guarded(work));
    this.#view.show(samePersonStep(this.#words, yes, no));
  }

  /** Send the recorded report again, with the same bytes, because the person asks for it. */
  async sendAgain() {
    await this.#view.guarded(async () => {
      await this.#speakOf(await this.#respondent.drawn());
      await this.#send((path) => path.send(), false);
    });
  }

  async #send(send, isEarlier, whose) {
    this.#view.close();
    this.#view.busy("sending_now");
    await this.#view.guarded(async () => {
      try {
        await this.#receipt(await send(await this.#path()), isEarlier);
      } catch (error) {
        if (error.elsewhere) return whose(error.elsewhere);
        // Whether or not it arrives, what was chosen is of no more use once the report is in the ledger.
        this.#forget();
        if (!error.isFinal && !error.sendAt) {
          this.#hasFailed = true;
          this.#respondent.kiosk?.restSoon();
          throw error;
        }
        await this.#view.guarded(async () => this.resume(await this.#respondent.drawn(), true));
      }
    }, { resend: () => this.sendAgain() });
    this.#sendByItself(this.#view.resend);
  }

  // While the page tells that a report was not sent: without a word, after pauses of 8 s, 16 s, 32 s, ... with jitter.
  async #sendByItself(told, attempt = 3) {
    if (!told) return;
    await pause(secondsToWait(attempt));
    if (this.#view.resend !== told) return;
    try {
      await this.#receipt(await (await this.#path()).send(), false);
    } catch (error) {
      // A refusal is shown as after a press of the button.
      await (error.isFinal ? told() : this.#sendByItself(told, attempt + 1));
    }
  }

  async #takeOver(other) {
    this.#forget();
    const { key, ledger } = this.#respondent;
    const entry = await ledger.rebind(other, key);
    // Another tab may have been faster.
    await (entry.sent || entry.ended ? this.resume(entry) : this.sendAgain());
  }

  async #receipt(receipt, isEarlier) {
    this.#forget();
    // After a failure the next person may be looking.
    if (this.#hasFailed && this.#respondent.kiosk) return this.#respondent.kiosk.startAnew();
    // Another tab may have drawn it for another revision.
    await this.#speakOf(receipt);
    const { receiptParts, receiptStep } = await import("./steps/receipt.js");
    const own = this.#respondent.kiosk?.lastStep(receiptParts) ?? receiptStep;
    // Without the survey's own words the bytes alone are shown.
    const step = this.#survey ? own : (await import("./steps/refused.js")).plainReceiptStep;
    this.#show(step, receipt, isEarlier, await this.#respondent.spent(), (how) => this.#end(how));
  }

  // A report is shown in the words of the revision that it was drawn for, whichever revision the link names.
  async #speakOf({ digest, ended }) {
    if (!ended && this.#survey?.digest !== digest) {
      const { key, ledger, transport } = this.#respondent;
      const { surveyDrawnFor } = await import("../device/revisions.js");
      this.#survey = await surveyDrawnFor(ledger, transport, key[1], digest);
    }
    await this.#words.speak(this.#survey);
    await this.#view.offerExit(this.#survey, this.#respondent, this.#forget);
  }

  // Withdraw the report or forget it, after asking once more.
  async #end(how) {
    const back = () => this.#view.guarded(async () => this.resume(await this.#respondent.drawn()));
    const work = async () => {
      await (await this.#path())[how]();
      // What is kept for visits without a connection would say which survey was opened here.
      const { key, transport } = this.#respondent;
      const { forgetOffline } = await import("../device/offline.js");
      await forgetOffline(transport.addresses(key[1])).catch(() => {});
      await back();
    };
    const end = () => {
      this.#view.busy("ending");
      return this.#view.guarded(work, { back });
    };
    const confirm = async () => this.#show((await import("./steps/withdraw.js")).confirmStep, how, end, back);
    await this.#view.guarded(confirm);
  }

  async #path() {
    return new (await import("../device/answer_path.js")).AnswerPath(this.#respondent);
  }

  #show(step, ...rest) {
    this.#view.show(step(this.#survey, this.#words, ...rest));
  }
}
