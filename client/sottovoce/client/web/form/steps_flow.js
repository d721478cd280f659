import { keepOffline } from "../device/offline.js";
import { RARE_VIEWS } from "./choice_input.js";
import { stepsBefore } from "./steps/explanation.js";
import { askingStep } from "./steps/questions.js";
import { isRare } from "../survey/bring.js";
import { RARE_READERS } from "../survey/known.js";

/** The page from the first step to Send; what comes after it is in `after_send.js`. */
export class StepsFlow {
  #respondent;
  #asked;
  #words;
  #view;
  #asking = null;
  #isSomebodyElse;
  #rest = null;

  /**
   * `asked` are the indices of the questions that this person is asked, null where the arm, which is drawn once they
   * are to be shown, decides it; see `AfterSend.answer` for the last.
   */
  constructor(respondent, asked, words, view, isSomebodyElse) {
    this.#respondent = respondent;
    this.#asked = asked;
    [this.#words, this.#view] = [words, view];
    this.#isSomebodyElse = isSomebodyElse;
  }

  /**
   * A long consent, where there is one, and the check, where the survey asks for it and answers are protected at all;
   * then the questions. What was chosen before Back was pressed is still there.
   */
  async begin() {
    const { survey } = this.#respondent;
    const { asksCheck, asksConsent } = stepsBefore(survey);
    const before = asksCheck || asksConsent ? await import("./steps/before.js") : null;
    const enter = (step, ...rest) => this.#view.enter(step(survey, this.#words, ...rest));
    const ask = () => this.#ask(survey);
    const goOn = asksCheck ? () => enter(before.checkStep, ask) : ask;
    if (asksConsent) enter(before.consentStep, goOn, () => this.#view.back());
    else await goOn();
  }

  /** The steps after these, on the same view. */
  async after() {
    const { AfterSend } = await import("./after_send.js");
    return (this.#rest ??= new AfterSend(this.#respondent, this.#words, this.#view, () => this.forget()));
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

  async #ask(survey) {
    await bringViews(survey);
    const asked = this.#asked ?? (await this.#respondent.asked());
    let seen = survey.inArm?.(await this.#respondent.arm()) ?? survey;
    if (survey.isOrdered) seen = await (await import("../device/order_draw.js")).inDrawnOrder(this.#respondent, seen);
    const long = survey.isLong ? await import("./steps/sections.js") : null;
    const ask = () => askingStep(seen, this.#words, asked, () => this.#answer(), long?.divide);
    this.#asking ??= long ? long.inSections(ask(), this.#words, this.#view) : ask();
    this.#view.enter(this.#asking);
  }

  async #answer() {
    const answers = this.#asking.answers();
    await this.#view.guarded(async () => (await this.after()).answer(answers, this.#isSomebodyElse));
  }
}

/** Have what a survey's questions need on the page. It comes with the survey that names it. */
async function bringViews({ document, ownCoin }) {
  if (ownCoin) Object.assign(RARE_VIEWS, await import("./by_hand/own_coin_view.js"));
  if (!isRare(document)) return;
  Object.assign(RARE_VIEWS, await import("./rare_items.js"), await import("./number_input.js"));
  if (RARE_READERS.checkInnocuous) Object.assign(RARE_VIEWS, await import("./by_hand/second_statement.js"));
}
