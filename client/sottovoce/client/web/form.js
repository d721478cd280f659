import { disclosure } from "./disclosure.js";
import { checkDevice } from "./draws.js";
import { SurveyError } from "./errors.js";
import { explanationStep } from "./explanation.js";
import { BrowserLedger } from "./ledger.js";
import { parseLink } from "./link.js";
import { arrived, load } from "./loading.js";
import { ALLOWANCE, Respondent } from "./respondent.js";
import { Transport } from "./transport.js";

/** The page up to the first step; what comes after it is in `answering.js`. */
export class Form {
  #words;
  #stage;
  #enter = async () => null;
  #answering = null;

  constructor(words, stage) {
    this.#words = words;
    this.#stage = stage;
  }

  /** From the page's address to the first step. */
  async open(href, setup, allowance = ALLOWANCE) {
    const again = (chosen) => this.open(href, setup, chosen);
    const allow = () => disclosure(this.#words, "limit_title", ({ limitsForm }) => limitsForm(this.#words, allowance, again));
    await this.#stage.guarded(async () => {
      checkDevice();
      // The aggregator says who may embed its page; a page from elsewhere cannot.
      if (setup.aggregator && parent !== self) throw new SurveyError("error_framed");
      const held = setup.survey && new TextEncoder().encode(setup.survey.text);
      const link = { ...parseLink(href, setup), held };
      const ledger = await BrowserLedger.open();
      const transport = new Transport(link.origin);
      const respondent = await Respondent.connect(link, transport, ledger, { allowance });
      await this.#words.speak(respondent.survey);
      for (const part of Object.keys(arrived())) await this.#words.learn(part);
      let asked = [];
      this.#answering = null;
      this.#enter = async () => {
        const { Answering } = await load("later", this.#words);
        this.#answering ??= new Answering(respondent, asked, this.#words, this.#stage, ledger, transport);
        return this.#answering;
      };
      const entry = await respondent.drawn();
      if (entry !== null) return (await this.#enter()).resume(entry);
      // Which questions are asked is decided, and recorded, before anything is shown.
      asked = await respondent.asked();
      const known = { hasDigest: link.digest !== "", spent: await respondent.spent(), allowance };
      this.#explain(respondent.survey, known, allow);
    }, { allow });
  }

  /**
   * Keep page, survey and sentences for visits without a connection, and send what waits: once the form is ready.
   * `addressOf` gives where sentences are.
   */
  async keep(addressOf) {
    const answering = await this.#enter().catch(() => null);
    await answering?.keep(addressOf);
  }

  /** Forget what was chosen; called when the page is left. */
  forget() {
    this.#answering?.forget();
  }

  #explain(survey, known, allow) {
    const act = (what, ...rest) => this.#stage.guarded(async () => (await this.#enter())[what](...rest));
    const begin = () => act("begin");
    const practise = () => act("practise", () => this.#stage.show(step));
    const step = explanationStep(survey, this.#words, known, { begin, practise, limits: allow });
    // The first step appears without taking the focus: people begin at the top of the page.
    this.#stage.show(step, known.allowance !== ALLOWANCE);
    // The next steps, while this one is being read. If they do not arrive, that is told when they are needed.
    load("later", this.#words).catch(() => {});
  }
}
