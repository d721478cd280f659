import { bringViews } from "./choice_input.js";
import { isEarly } from "../device/entries.js";
import { forgetOffline, keepOffline } from "../device/offline.js";
import { stepsBefore } from "./steps/explanation.js";
import { askingStep } from "./steps/questions.js";

/** The page from the first step to the receipt. A respondent who comes back to what was drawn brings no survey. */
export class StepsFlow {
  #respondent;
  // The survey that is spoken of: of a report, the one that it was drawn for; null if that is not to be had.
  #survey;
  #asked;
  #words;
  #view;
  #asking = null;
  #isSomebodyElse;

  /** `asked` are the indices of the questions that this person is asked; see `AnswerPath.answer` for the last. */
  constructor(respondent, asked, words, view, isSomebodyElse) {
    this.#respondent = respondent;
    this.#survey = respondent.survey;
    this.#asked = asked;
    [this.#words, this.#view] = [words, view];
    this.#isSomebodyElse = isSomebodyElse;
  }

  /**
   * A long consent, where there is one, and the check, where the survey asks for it and answers are protected at all;
   * then the questions. What was chosen before Back was pressed is still there.
   */
  async begin() {
    const { asksCheck, asksConsent } = stepsBefore(this.#survey);
    const before = asksCheck || asksConsent ? await import("./steps/before.js") : null;
    const ask = () => this.#ask();
    const goOn = asksCheck ? () => this.#enterStep(before.checkStep, ask) : ask;
    if (asksConsent) this.#enterStep(before.consentStep, goOn, () => this.#view.back());
    else await goOn();
  }

  /** What was drawn earlier, in an earlier visit or another tab. A report that was refused is not sent unasked. */
  async resume(entry) {
    this.forget();
    await this.#speakOf(entry);
    if (entry.ended) return this.#show((await import("./steps/withdraw.js")).endedStep, entry);
    if (entry.sent) return this.#receipt(await (await this.#path()).receipt(), true);
    const act = { again: () => this.sendAgain(), end: (how) => this.#end(how), forget: () => this.#end("forget") };
    if (isEarly(entry)) return this.#show((await import("./steps/later.js")).laterStep, entry, act);
    if (!entry.refused) return this.#send("resending", (path) => path.send(), true);
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
      await this.#send("sending_now", (path) => path.send(), false);
    });
  }

  /**
   * Keep page, survey and sentences for visits without a connection, and send what waits. It is done as soon as the
   * form is ready, and mostly from the browser's cache: a request after Begin would show when questions were reached.
   */
  async keep(addressOf) {
    addEventListener("online", () => this.#sendAll().catch(() => {}));
    try {
      await this.#sendOthers();
      // Who had a report forgotten here leaves nothing that says more than the ledger does.
      if ((await this.#respondent.drawn())?.ended) return;
      await keepOffline(addressOf(this.#words.language), this.#respondent.transport.used);
    } catch {
      // Without a connection, or where the browser keeps nothing: the page works as it is.
    }
  }

  /** Forget what was chosen: when the page is left, and once a report has been drawn. */
  forget() {
    this.#view.close();
    this.#asking?.clear();
    this.#asking = null;
  }

  // The reports that wait for this aggregator: the one in hand in sight, others without a word.
  async #sendAll() {
    await this.#view.resend?.();
    await this.#sendOthers();
  }

  async #sendOthers() {
    const { key, ledger, transport } = this.#respondent;
    if ((await ledger.waiting(transport.origin)).length === 0) return;
    await (await import("../device/delivery.js")).sendWaiting(ledger, transport, key);
  }

  async #ask() {
    await bringViews(this.#survey);
    this.#asking ??= askingStep(this.#survey, this.#words, this.#asked, () => this.#answer());
    this.#view.enter(this.#asking);
  }

  async #answer(isSomebodyElse = this.#isSomebodyElse) {
    const answers = this.#asking.answers();
    // Another tab may have been faster; then its report is the one that stands.
    const earlier = await this.#respondent.drawn().catch(() => null);
    if (earlier?.ended) return this.#view.guarded(() => this.resume(earlier));
    await this.#send("sending_now", (path) => path.answer(answers, isSomebodyElse), earlier !== null);
  }

  async #send(sentence, send, isEarlier) {
    this.#view.close();
    this.#view.busy(sentence);
    await this.#view.guarded(async () => {
      try {
        await this.#receipt(await send(await this.#path()), isEarlier);
      } catch (error) {
        if (error.elsewhere) return this.askWhose(error.elsewhere, () => this.#answer(true));
        // Whether or not it arrives, what was chosen is of no more use once the report is in the ledger.
        this.forget();
        if (!error.isFinal && !error.sendAt) throw error;
        await this.#view.guarded(async () => this.resume(await this.#respondent.drawn()));
      }
    }, { resend: () => this.sendAgain() });
  }

  async #takeOver(other) {
    this.forget();
    const { key, ledger } = this.#respondent;
    const entry = await ledger.rebind(other, key);
    // Another tab may have been faster.
    await (entry.sent || entry.ended ? this.resume(entry) : this.sendAgain());
  }

  async #receipt(receipt, isEarlier) {
    this.forget();
    // Another tab may have drawn it for another revision.
    await this.#speakOf(receipt);
    const step = await this.#receiptStep();
    this.#show(step, receipt, isEarlier, await this.#respondent.spent(), (how) => this.#end(how));
    (await import("./steps/receipt.js")).tellParent();
  }

  // Without the survey's own words the bytes alone are shown.
  async #receiptStep() {
    if (this.#survey) return (await import("./steps/receipt.js")).receiptStep;
    return (await import("./steps/refused.js")).plainReceiptStep;
  }

  // A report is shown in the words of the revision that it was drawn for, whichever revision the link names.
  async #speakOf({ digest, ended }) {
    if (!ended && this.#survey?.digest !== digest) {
      const { key, ledger, transport } = this.#respondent;
      const { surveyDrawnFor } = await import("../device/revisions.js");
      this.#survey = await surveyDrawnFor(ledger, transport, key[1], digest);
    }
    await this.#words.speak(this.#survey);
    await this.#view.offerExit(this.#survey, () => this.forget());
  }

  // Withdraw the report or forget it, after asking once more.
  async #end(how) {
    const resume = async () => this.resume(await this.#respondent.drawn());
    const back = () => this.#view.guarded(resume);
    const end = async () => {
      this.#view.busy("ending");
      const work = async () => {
        await (await this.#path())[how]();
        // What is kept for visits without a connection would say which survey was opened here.
        const { key, transport } = this.#respondent;
        await forgetOffline(transport.addresses(key[1])).catch(() => {});
        await resume();
      };
      await this.#view.guarded(work, { back });
    };
    await this.#view.guarded(async () => {
      const { confirmStep } = await import("./steps/withdraw.js");
      this.#show(confirmStep, how, end, back);
    });
  }

  async #path() {
    const { AnswerPath } = await import("../device/answer_path.js");
    return new AnswerPath(this.#respondent);
  }

  #enterStep(step, ...rest) {
    this.#view.enter(step(this.#survey, this.#words, ...rest));
  }

  #show(step, ...rest) {
    this.#view.show(step(this.#survey, this.#words, ...rest));
  }
}
