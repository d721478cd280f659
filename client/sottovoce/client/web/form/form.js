import { disclosure } from "./disclosure.js";
import { checkDevice } from "../device/draws.js";
import { SurveyError } from "../survey/errors.js";
import { explanationStep } from "./steps/explanation.js";
import { BrowserLedger } from "../device/ledger.js";
import { parseLink } from "../survey/link.js";
import { need } from "../registry.js";
import { DEFAULT_ALLOWANCE } from "../survey/allowance.js";
import { Respondent } from "../device/respondent.js";
import { Transport } from "../device/transport.js";

/** The page up to the first step; what comes after it is in `steps_flow.js`. */
export class Form {
  #words;
  #view;
  #enter = async () => null;
  #steps = null;

  constructor(words, view) {
    this.#words = words;
    this.#view = view;
  }

  /** From the page's address to the first step. */
  async open(href, setup, allowance = DEFAULT_ALLOWANCE) {
    const again = (chosen) => this.open(href, setup, chosen);
    const allow = () => disclosure(this.#words, "limit_title", "limitsForm", allowance, again);
    await this.#view.guarded(async () => {
      checkDevice();
      // The aggregator says who may embed its page; a page from elsewhere cannot.
      if (setup.aggregator && parent !== self) throw new SurveyError("error_framed");
      const link = parseLink(href, setup);
      const transport = new Transport(link.origin);
      const fetched = setup.survey ? new TextEncoder().encode(setup.survey.text) : transport.fetchSurvey(link.survey);
      // The survey is on its way while the ledger opens, and the ledger is read while the sentences come.
      const [ledger, held] = await Promise.all([BrowserLedger.open(), fetched]);
      const respondent = await Respondent.connect({ ...link, held }, transport, ledger, { allowance });
      const known = Promise.all([respondent.drawn(), respondent.spent()]);
      known.catch(() => {});
      await this.#words.speak(respondent.survey);
      let asked = [];
      this.#steps = null;
      this.#enter = async () => {
        const [StepsFlow, AnswerPath] = [await need("StepsFlow"), await need("AnswerPath")];
        this.#steps ??= new StepsFlow(respondent, new AnswerPath(respondent), asked, this.#words, this.#view);
        return this.#steps;
      };
      const [entry, spent] = await known;
      if (entry !== null) return (await this.#enter()).resume(entry);
      // Which questions are asked is decided, and recorded, before anything is shown.
      asked = await respondent.asked();
      this.#explain(respondent.survey, { hasDigest: link.digest !== "", spent, allowance }, allow);
    }, { allow });
  }

  /**
   * Keep page, survey and sentences for visits without a connection, and send what waits: once the form is ready.
   * `addressOf` gives where sentences are.
   */
  async keep(addressOf) {
    const steps = await this.#enter().catch(() => null);
    await steps?.keep(addressOf);
  }

  /** Forget what was chosen; called when the page is left. */
  forget() {
    this.#steps?.forget();
  }

  #explain(survey, known, allow) {
    const act = (what, ...rest) => this.#view.guarded(async () => (await this.#enter())[what](...rest));
    const begin = () => act("begin");
    const practise = () => act("practise", () => this.#view.show(step));
    const step = explanationStep(survey, this.#words, known, { begin, practise, limits: allow });
    // The first step appears without taking the focus: people begin at the top of the page.
    this.#view.show(step, known.allowance !== DEFAULT_ALLOWANCE);
    // The next steps, while this one is being read. If they do not arrive, that is told when they are needed.
    need("StepsFlow").catch(() => {});
  }
}
