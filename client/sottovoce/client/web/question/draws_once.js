import { DEFAULT_ALLOWANCE } from "../survey/allowance.js";
import { hexadecimal } from "../survey/canonical.js";
import { BudgetExhausted, SurveyError } from "../survey/errors.js";
import { showEpsilon, sum } from "../survey/rational.js";

const KEPT_UNDER = "sottovoce-question/1";
const ONE_DAY = 86_400_000;

/**
 * What this browser remembers of single questions: each report before it leaves, and its epsilon. Names, texts and
 * participants are kept as HMACs under a key of this browser; the browser keeps such storage apart for each site around
 * the frame.
 */
export class DrawsOnce {
  #asked;
  #scope;

  /** `asked` is `{ origin, study, participant, digest, questions, epsilon }`; `scope` has the storage and locks. */
  constructor(asked, scope = globalThis) {
    this.#asked = asked;
    this.#scope = scope;
  }

  /** Whether anything can be kept here; a private window, or a browser that blocks storage in frames, keeps nothing. */
  get isKept() {
    try {
      const storage = this.#scope.localStorage;
      storage.setItem(`${KEPT_UNDER} try`, "1");
      storage.removeItem(`${KEPT_UNDER} try`);
      return true;
    } catch {
      return false;
    }
  }

  /** The epsilon of all that was drawn here, for whichever host and person. */
  get everything() {
    return this.isKept ? sum(Object.values(this.#read().draws).map((one) => one.epsilon)) : 0;
  }

  /** The report that was drawn for this person and question; null for none. */
  async earlier() {
    if (!this.isKept) return null;
    const { draw } = await this.#keys();
    return this.#read().draws[draw]?.report ?? null;
  }

  /** Whether this host has asked here under another name within a day. */
  async isSharedDevice() {
    if (!this.isKept) return false;
    const { host, person } = await this.#keys();
    const since = Date.now() - ONE_DAY;
    const drawn = Object.values(this.#read().draws);
    return drawn.some((one) => one.host === host && one.person !== person && one.at > since);
  }

  /**
   * Refuse what would give away too much: 3 for one question under all its wordings, 8 in all; what was drawn together
   * counts for each question in it, and once in all.
   *
   * @throws {BudgetExhausted}
   */
  async check() {
    if (!this.isKept || (await this.earlier()) !== null) return;
    const { epsilon, questions } = this.#asked;
    const { named, person } = await this.#keys();
    const own = Object.values(this.#read().draws).filter((one) => one.person === person);
    const total = epsilon + sum(own.map((one) => one.epsilon));
    const { question: most, total: mostInAll } = DEFAULT_ALLOWANCE;
    questions.forEach(({ name }, place) => {
      const same = own.filter((one) => one.texts.some((text) => named[place].includes(text)));
      refuseAbove(most, epsilon + sum(same.map((one) => one.epsilon)), "error_question_budget", name);
    });
    refuseAbove(mostInAll, total, "error_total_budget", questions[0].name);
  }

  /** Keep other windows from asking this at the same time: a function that lets them; null if one of them does. */
  async claim() {
    const { locks } = this.#scope.navigator;
    if (!locks || !this.isKept) return () => {};
    const { draw } = await this.#keys();
    return new Promise((claimed) => {
      const keep = (lock) => lock ? new Promise((free) => claimed(free)) : claimed(null);
      locks.request(`${KEPT_UNDER} ${draw}`, { ifAvailable: true }, keep);
    });
  }

  /** The report drawn before, else the one that `draw` gives, stored before it is given: `{ report, once }`. */
  async report(draw) {
    if (!this.isKept) return { report: draw(), once: "no" };
    const { locks } = this.#scope.navigator;
    // Two tabs must not draw at the same moment.
    const report = await (locks ? locks.request(KEPT_UNDER, () => this.#drawn(draw)) : this.#drawn(draw));
    return { report, once: await this.#lasting() };
  }

  // How long it is kept: a private window and a frame without cookies of its site forget it after the visit.
  async #lasting() {
    const { document, navigator } = this.#scope;
    const isOwn = (await document?.hasStorageAccess?.()) ?? true;
    const isPrivate = await navigator.storage?.getDirectory?.().then(() => false, () => true);
    return isOwn && !isPrivate ? "device" : "visit";
  }

  async #drawn(draw) {
    await this.check();
    const { draw: key, host, person, texts } = await this.#keys();
    const kept = this.#read();
    if (!Object.hasOwn(kept.draws, key)) {
      kept.draws[key] = { report: draw(), epsilon: this.#asked.epsilon, host, person, texts, at: Date.now() };
      this.#scope.localStorage.setItem(KEPT_UNDER, JSON.stringify(kept));
    }
    return kept.draws[key].report;
  }

  #read() {
    const text = this.#scope.localStorage.getItem(KEPT_UNDER);
    if (text !== null) return parsed(text);
    const kept = { key: hexadecimal(crypto.getRandomValues(new Uint8Array(32))), draws: {} };
    this.#scope.localStorage.setItem(KEPT_UNDER, JSON.stringify(kept));
    return kept;
  }

  // The names under which this question and person are known here.
  async #keys() {
    const { digest, origin, participant, questions, study } = this.#asked;
    const bytes = Uint8Array.from(this.#read().key.match(/../g), (pair) => parseInt(pair, 16));
    const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    const hidden = async (...parts) => {
      const signed = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(JSON.stringify(parts)));
      return hexadecimal(new Uint8Array(signed));
    };
    const about = ({ label, name }) =>
      Promise.all([name, ...Object.values(label)].map((text) => hidden("text", origin, participant, text)));
    const named = await Promise.all(questions.map(about));
    return {
      host: await hidden("host", origin),
      person: await hidden("person", origin, participant),
      draw: await hidden("draw", origin, study, participant, digest),
      named,
      texts: named.flat(),
    };
  }
}

function refuseAbove(limit, epsilon, sentence, question) {
  if (epsilon > limit) throw new BudgetExhausted(sentence, { question, epsilon: showEpsilon(epsilon), limit });
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new SurveyError("error_ledger");
  }
}
