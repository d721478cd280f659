import { button, element, heading } from "./dom.js";
import { checkDevice } from "./draws.js";
import { LoadError, SurveyError, TransportError } from "./errors.js";
import { explanationStep } from "./explanation.js";
import { BrowserLedger } from "./ledger.js";
import { limitsForm } from "./limits.js";
import { parseLink } from "./link.js";
import { load } from "./loading.js";
import { mostRevealing } from "./picture.js";
import { expectedReceipt } from "./report.js";
import { ALLOWANCE, Respondent } from "./respondent.js";
import { Transport } from "./transport.js";

/** The page: one step at a time in `main`, its progress told in `status`. */
export class Form {
  #words;
  #main;
  #status;
  #frame;
  #limits = null;
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
  async open(href, allowance = ALLOWANCE) {
    const allow = (chosen) => this.open(href, chosen);
    this.#limits = () => limitsForm(this.#words, allowance, allow);
    await this.#guarded(async () => {
      checkDevice();
      const link = parseLink(href);
      const ledger = await BrowserLedger.open();
      this.#respondent = await Respondent.connect(link, new Transport(link.origin), ledger, { allowance });
      await this.#words.speak(this.#respondent.survey);
      const entry = await this.#respondent.drawn();
      if (entry !== null) return this.#resume(entry);
      const spent = await this.#respondent.spent();
      // The first step appears without taking the focus: people begin at the top of the page.
      this.#explain({ hasDigest: link.digest !== "", spent, allowance }, allow, allowance !== ALLOWANCE);
    });
  }

  /** Forget what was chosen; called when the page is left, and once a report has been drawn. */
  forget() {
    this.#asking?.clear();
    this.#asking = null;
  }

  #explain(known, allow, takesFocus) {
    const back = () => this.#show(step);
    const practise = () => this.#step("practiceStep", back);
    const { survey } = this.#respondent;
    const ask = () => this.#ask();
    const begin = mostRevealing(survey) ? () => this.#step("checkStep", ask) : ask;
    const step = explanationStep(survey, this.#words, known, { begin, practise, allow });
    this.#show(step, takesFocus);
    // The next steps, while this one is being read. If they do not arrive, that is told when they are needed.
    load().catch(() => {});
  }

  #ask() {
    this.#guarded(async () => {
      const { askingStep } = await load();
      this.#asking = askingStep(this.#respondent.survey, this.#words, () => this.#review());
      this.#show(this.#asking);
    });
  }

  #review() {
    this.#step("reviewStep", () => this.#show(this.#asking), () => this.#answer());
  }

  async #answer() {
    const answers = this.#asking.answers();
    // Another tab may have been faster; then its report is the one that stands.
    const earlier = await this.#drawn();
    if (earlier?.ended) return this.#resume(earlier);
    await this.#sending("sending", async () => this.#respondent.answer(answers), earlier !== null);
  }

  async #resume(entry) {
    this.forget();
    if (entry.ended) return this.#step("endedStep", entry);
    if (!entry.sent) return this.#sending("resending", async () => this.#respondent.send(), true);
    return this.#receipt({ ...(await expectedReceipt(entry.body)), body: entry.body }, true);
  }

  async #sending(sentence, send, isEarlier) {
    this.#busy(sentence);
    await this.#guarded(async () => {
      // Whether or not it arrives, what was chosen is of no more use once the report is in the ledger.
      const receipt = await send().finally(() => this.forget());
      await this.#receipt(receipt, isEarlier);
    });
  }

  async #receipt(receipt, isEarlier) {
    const spent = await this.#respondent.spent();
    await this.#step("receiptStep", receipt, isEarlier, spent, (how) => this.#end(how));
  }

  // Withdraw the report or forget it, after asking once more.
  #end(how) {
    const resume = async () => this.#resume(await this.#respondent.drawn());
    const back = () => this.#guarded(resume);
    const end = async () => {
      this.#busy("ending");
      await this.#guarded(() => this.#respondent[how]().then(resume), back);
    };
    this.#step("confirmStep", how, end, back);
  }

  #busy(sentence) {
    const start = heading(1, this.#words.node(sentence));
    this.#show({ node: element("div", { className: "busy" }, start), start });
  }

  // One of the later steps.
  async #step(name, ...rest) {
    await this.#guarded(async () => this.#show((await load())[name](this.#respondent.survey, this.#words, ...rest)));
  }

  #show({ node, start }, takesFocus = true) {
    this.#main.replaceChildren(node);
    this.#status.replaceChildren();
    this.#frame?.();
    this.#frame = null;
    if (!takesFocus) return;
    scrollTo(0, 0);
    start.focus();
  }

  // Where there is a way `back`, a failure has taken nothing away.
  async #guarded(work, back = null) {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof SurveyError)) console.error(error.name);
      await this.#fail(error, work, back);
    }
  }

  async #fail(error, work, back) {
    // What went wrong before there was a survey is told in the device's language.
    if (!this.#words.language) await this.#words.speak(null);
    const { sentence = "error_unexpected", values } = error;
    const isDrawn = error instanceof TransportError && (await this.#drawn()) !== null;
    const isPart = error instanceof LoadError;
    const [about, note] = isPart
      ? ["load_title", "load_note"]
      : back
        ? ["kept_title", "kept_note"]
        : !isDrawn
          ? ["refused_title", "refused_note"]
          : error.isFinal
            ? ["final_title", "final_note"]
            : ["failed_title", "failed_note"];
    const start = heading(1, this.#words.node(about));
    const reason = this.#words.said("p", sentence, values, { className: "lead" });
    const node = element("div", { className: "problem", role: "alert" }, start, reason, this.#words.said("p", note));
    const resend = () => this.#sending("sending", async () => this.#respondent.send(), false);
    const again = isPart ? () => this.#guarded(work, back) : resend;
    if (isPart || note === "failed_note") node.append(button(this.#words.node("again"), "primary", again));
    else if (back) node.append(button(this.#words.node("keep"), "primary", back));
    if (values?.limit !== undefined) node.append(this.#limits());
    this.#show({ node, start });
  }

  async #drawn() {
    return (await this.#respondent?.drawn().catch(() => null)) ?? null;
  }
}
