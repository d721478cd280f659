import { checkDevice } from "../device/draws.js";
import { SurveyError } from "../survey/errors.js";
import { explanationStep, stepsBefore } from "./steps/explanation.js";
import { BrowserLedger } from "../device/ledger.js";
import { parseLink } from "../survey/link.js";
import { Respondent } from "../device/respondent.js";
import { askStatus, heardSoon, isNews, isShut, standingOf, standingWithToken } from "./standing.js";
import { Transport } from "../device/transport.js";

const CHECKING = { kind: "checking", date: null };

/** The page up to the first step; what comes after it is in `steps_flow.js`. */
export class Form {
  #words;
  #view;
  #enter = async () => null;
  #steps = null;
  #isSomebodyElse = false;

  constructor(words, view) {
    this.#words = words;
    this.#view = view;
  }

  /** From the page's address to the first step, or to what was drawn here earlier. */
  async open(href, setup) {
    await this.#view.guarded(async () => {
      checkDevice();
      // The aggregator's own page has a header that keeps it out of frames; a page from elsewhere has none.
      if (setup.aggregator && parent !== self) throw new SurveyError("error_framed");
      const link = parseLink(href, setup);
      const held = setup.survey && new TextEncoder().encode(setup.survey.text);
      const transport = new Transport(link.origin);
      const ledger = await BrowserLedger.open();
      // Before anything that can fail: people who answered see what was sent, whatever became of the survey.
      const wanted = [link.origin, link.survey, link.wave, link.token];
      // On a device that is handed round, what its owner once sent is not shown to the next person.
      const drawn = /[#&](staff|sealed)=/.test(href) ? null : await ledger.find(wanted);
      if (drawn !== null) return this.#resume(transport, ledger, drawn);
      // A page from elsewhere is no copy that changes with every visit: it need not be saved.
      const source = setup.aggregator ? null : transport;
      const first = () => this.#first({ ...link, held, source }, transport, ledger);
      const [other] = this.#isSomebodyElse || !link.token ? [] : await ledger.unaccepted(wanted);
      if (other === undefined) return first();
      await this.#askWhose(transport, ledger, [other, wanted], first);
    }, { later: () => this.open(href, setup) });
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

  // The way on from here, for this respondent; its part of the page comes when it is needed.
  #lead(respondent, asked) {
    this.#steps = null;
    this.#enter = async () => {
      const { StepsFlow } = await import("./steps_flow.js");
      this.#steps ??= new StepsFlow(respondent, asked, this.#words, this.#view, this.#isSomebodyElse);
      return this.#steps;
    };
  }

  async #resume(transport, ledger, key) {
    this.#lead(new Respondent(null, transport, ledger, { key }), []);
    await this.#resumeEntry(await ledger.get(key));
  }

  async #resumeEntry(entry) {
    await (await (await this.#enter()).after()).resume(entry);
  }

  async #askWhose(transport, ledger, [other, own], first) {
    this.#lead(new Respondent(null, transport, ledger, { key: own }), []);
    const after = await (await this.#enter()).after();
    await after.askWhose(other, async () => {
      this.#isSomebodyElse = true;
      await first();
    });
  }

  async #first(link, transport, ledger) {
    // On its way while the survey is; the first step does not wait for it.
    const statusReply = askStatus(transport, link.survey);
    const respondent = await Respondent.connect(link, transport, ledger);
    const meet = (person) => this.#meet(person, link, statusReply);
    if (!respondent.survey.kiosk || link.token) return meet(respondent);
    this.#lead(respondent, []);
    await (await import("./kiosk.js")).receivePeople(respondent, this.#words, this.#view, meet);
  }

  async #meet(respondent, link, statusReply) {
    const looks = Promise.all([respondent.drawn(), respondent.spent()]);
    looks.catch(() => {});
    await this.#words.speak(respondent.survey);
    this.#showInstitution(statusReply).catch(() => {});
    // With them come the sentences of what may go wrong.
    const notes = await this.#notes(respondent);
    const [entry, spent] = await looks;
    await this.#view.offerExit(respondent.survey, respondent, () => this.forget());
    this.#lead(respondent, []);
    if (entry !== null) return this.#resumeEntry(entry);
    // Which questions are asked is decided, and recorded, before anything is shown; the arm after Begin.
    this.#lead(respondent, respondent.survey.arms ? null : await respondent.asked());
    const known = { hasDigest: link.digest !== "", notes, spent, source: link.source };
    const found = standingWithToken(respondent, statusReply);
    const explain = () => this.#explain(respondent, known, found);
    if (!respondent.survey.isBlind) return explain();
    await (await import("./steps/later.js")).openInvitation(respondent, this.#words, this.#view, found, explain);
  }

  async #showInstitution(statusReply) {
    const { institution } = await statusReply;
    if (institution) (await import("./institution.js")).showInstitution(institution, this.#words);
  }

  async #notes({ key, kiosk, survey }) {
    if (kiosk) return kiosk.notes();
    if (!survey.isBlind && !survey.isDelayed) return [];
    const { blindNotes } = await import("./steps/later.js");
    return blindNotes(survey, this.#words, key[2]);
  }

  #explain(respondent, known, found) {
    // Until the aggregator has spoken.
    let standing = standingOf(respondent, null);
    let step = null;
    const show = (takesFocus = true) => {
      step = explanationStep(respondent.survey, this.#words, { ...known, ...standing }, begin);
      this.#view.enterFirst(step, takesFocus);
    };
    const begin = () => this.#view.guarded(async () => {
      standing = { ...standing, status: CHECKING };
      show(false);
      standing = (await heardSoon(found)) ?? standingOf(respondent, null);
      show(false);
      if (isShut(standing.status)) return step.start.focus();
      await (await this.#enter()).begin();
      if (standing.status.kind === "offline" || navigator.onLine === false) this.#view.tell("status_offline");
    }, { later: () => begin() });
    // The first step appears without taking the focus: people begin at the top of the page.
    show(false);
    found.then((heard) => {
      if (standing.status === CHECKING || !isNews(heard, standing)) return;
      standing = heard;
      if (step.node.isConnected) show(false);
    });
    // Load what is left while this step is read, before Begin (`keep` has loaded the next ones): a request between
    // Begin and Send would show when questions were reached. If they do not arrive, the error is shown when they are
    // needed.
    const { asksCheck, asksConsent } = stepsBefore(respondent.survey);
    import("../device/answer_path.js").catch(() => {});
    if (asksCheck || asksConsent) import("./steps/before.js").catch(() => {});
    if (respondent.survey.isLong) import("./steps/sections.js").catch(() => {});
  }
}
