import { button, element, heading } from "./dom.js";
import { checkDevice } from "./draws.js";
import { LoadError, SurveyError, TransportError } from "./errors.js";
import { BrowserLedger } from "./ledger.js";
import { parseLink } from "./link.js";
import { load } from "./loading.js";
import { askingStep } from "./questions.js";
import { expectedReceipt } from "./report.js";
import { Respondent } from "./respondent.js";
import { Transport } from "./transport.js";

/** The page: one step at a time in `main`, its progress told in `status`. */
export class Form {
  #words;
  #main;
  #status;
  #frame;
  #respondent = null;
  #asking = null;

  /** `frame` shows what stands around every step; it is called with the first. */
  constructor(words, main, status, frame) {
    this.#words = words;
    this.#main = main;
    this.#status = status;
    this.#frame = frame;
  }

  /** From the page's address to the first step; every refusal ends here, in words. */
  async open(href) {
    await this.#guarded(async () => {
      checkDevice();
      const link = parseLink(href);
      const ledger = await BrowserLedger.open();
      this.#respondent = await Respondent.connect(link, new Transport(link.origin), ledger);
      await this.#words.speak(this.#respondent.survey);
      const entry = await this.#respondent.drawn();
      if (entry === null) this.#ask(link.digest !== "");
      else await this.#resume(entry);
    });
  }

  /** Forget what was chosen; called when the page is left, and once a report has been drawn. */
  forget() {
    this.#asking?.clear();
    this.#asking = null;
  }

  #ask(hasDigest) {
    this.#asking = askingStep(this.#respondent.survey, this.#words, hasDigest, () => this.#review());
    // The first step appears without taking the focus: people begin at the top of the page.
    this.#show(this.#asking, false);
    // What comes after the questions, while they are being read. If it does not arrive, that is told when it is needed.
    load().catch(() => {});
  }

  async #review() {
    await this.#guarded(async () => {
      const { reviewStep } = await load();
      const back = () => this.#show(this.#asking);
      this.#show(reviewStep(this.#respondent.survey, this.#words, back, () => this.#answer()));
    });
  }

  async #answer() {
    const answers = this.#asking.answers();
    // Another tab may have been faster; then its report is the one that stands.
    const isEarlier = await this.#isDrawn();
    await this.#sending("sending", async () => this.#respondent.answer(answers), isEarlier);
  }

  async #resume(entry) {
    if (!entry.sent) return this.#sending("resending", async () => this.#respondent.send(), true);
    return this.#receipt({ ...(await expectedReceipt(entry.body)), body: entry.body }, true);
  }

  async #sending(sentence, send, isEarlier) {
    this.#main.replaceChildren();
    this.#tell(this.#words.node(sentence));
    await this.#guarded(async () => {
      // Whether or not it arrives, what was chosen is of no more use once the report is in the ledger.
      const receipt = await send().finally(() => this.forget());
      await this.#receipt(receipt, isEarlier);
    });
  }

  async #receipt(receipt, isEarlier) {
    const { receiptStep } = await load();
    this.#show(receiptStep(this.#respondent.survey, this.#words, receipt, isEarlier));
  }

  #show({ node, start }, takesFocus = true) {
    this.#main.replaceChildren(node);
    this.#tell();
    this.#frame?.();
    this.#frame = null;
    if (!takesFocus) return;
    scrollTo(0, 0);
    start.focus();
  }

  #tell(...sentence) {
    this.#status.replaceChildren(...sentence);
  }

  async #guarded(work) {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof SurveyError)) console.error(error.name);
      await this.#fail(error, work);
    }
  }

  async #fail(error, work) {
    // What went wrong before there was a survey is told in the device's language.
    if (!this.#words.language) await this.#words.speak(null);
    const { sentence = "error_unexpected", values } = error;
    const isDrawn = error instanceof TransportError && (await this.#isDrawn());
    const isPart = error instanceof LoadError;
    const [about, note] = isPart
      ? ["load_title", "load_note"]
      : !isDrawn
        ? ["refused_title", "refused_note"]
        : error.isFinal
          ? ["final_title", "final_note"]
          : ["failed_title", "failed_note"];
    const start = heading(1, this.#words.node(about));
    const reason = this.#words.said("p", sentence, values, { className: "lead" });
    const node = element("div", { className: "problem", role: "alert" }, start, reason, this.#words.said("p", note));
    const resend = () => this.#sending("sending", async () => this.#respondent.send(), false);
    const again = isPart ? () => this.#guarded(work) : resend;
    if (isPart || note === "failed_note") node.append(button(this.#words.node("again"), "primary", again));
    this.#show({ node, start });
  }

  async #isDrawn() {
    return (await this.#respondent?.drawn().catch(() => null)) != null;
  }
}
