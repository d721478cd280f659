import { checkDevice, Draws } from "../device/draws.js";
import { button, element } from "../form/dom.js";
import { SurveyError } from "../survey/errors.js";
import { showEpsilon, sum } from "../survey/rational.js";
import { Asking } from "./asking.js";
import { bringEverything } from "./block.js";
import { digestOf, readAskedAlone } from "./core.js";
import { DrawsOnce } from "./draws_once.js";
import { addressWith, codeOf, fieldsWith, isAnybodys, readPassed } from "./link_address.js";

/** Ask what is published at this address, and lead on to the survey that takes the record. */
export function startLink() {
  bringEverything();
  const held = (id) => JSON.parse(document.getElementById(id).textContent);
  const [sentences, published] = ["sentences", "published"].map(held);
  new Stop(published, sentences).open();
}

/** The whole visit: consent, questions, and the way on; `published` is `{ question, institution }`. */
class Stop extends Asking {
  claims = ["question_seen", "link_claim"];
  #given;
  #institution;
  #digest = "";
  #host = "";
  #passed = {};
  #asked = [];
  #draws = [];

  constructor({ institution, question }, sentences) {
    super(sentences);
    this.#given = question;
    this.#institution = institution;
    this.#host = new URL(question.then).hostname;
  }

  /** Show the first step, or why there is none. */
  open() {
    return this.attempt(async () => {
      await this.words.speak();
      if (window.top !== window) throw new SurveyError("error_framed");
      checkDevice();
      await this.#read();
      await (this.#given.consent === undefined ? this.#ask() : this.#showConsent());
    });
  }

  async #read() {
    const { channel, code, consent, once, pass = [], questions, then, value, ...alone } = this.#given;
    this.#digest = await digestOf(this.#given);
    this.#passed = readPassed(pass.map((name) => name.person ?? name), this.#digest);
    this.#asked = (questions ?? [alone]).map(readAskedAlone);
    const [{ language, questions: [{ label }] }] = this.#asked;
    // The title stays in the browser's history: it says whose page this is, and not what is asked.
    const neutralTitle = Object.fromEntries(Object.keys(label).map((tag) => [tag, this.#institution || location.host]));
    await this.words.speak({ title: label, neutralTitle, defaultLanguage: language });
    const person = pass.find((name) => name.person)?.person ?? pass[0];
    const participant = this.#passed[person] ?? "";
    const { origin, pathname } = new URL(then);
    const about = { origin: origin + pathname, study: "", participant };
    this.#draws = await Promise.all(this.#asked.map(async ({ document, epsilon, questions: own }) =>
      new DrawsOnce({ ...about, digest: await digestOf(document), questions: own, epsilon })));
  }

  #showConsent() {
    const { consent } = this.#given;
    const isPage = typeof consent === "string";
    const link = { href: consent, rel: "noopener noreferrer", target: "_blank" };
    const text = isPage ? this.words.line("a", "link_consent", {}, link) : this.words.text("span", consent);
    const agree = button(this.words.node("consent_agree"), "primary", () => this.attempt(() => this.#ask()));
    this.#step("consent_title", {}, element("p", {}, text), agree, this.#decline());
  }

  async #ask() {
    for (const draws of this.#draws) await draws.check();
    const earlier = await Promise.all(this.#draws.map((draws) => draws.earlier()));
    if (earlier.some((report) => report === null)) await this.#showQuestions(this.#draws);
    else this.#showEarlier();
  }

  #showEarlier() {
    const { words } = this;
    const goOn = button(words.node("link_go_on"), "primary", () => this.#send(this.#draws));
    const isNamed = this.#given.pass !== undefined;
    // Another person draws anew, and nothing of it is kept: the record says as much.
    const other = isNamed ? [] : [button(words.node("link_other"), "", () => this.#showQuestions(null))];
    this.parts = [];
    const earlier = words.line("p", "link_earlier", {}, { className: "note" });
    this.#step("link_to", { host: this.#host }, earlier, goOn, ...other);
  }

  // Without `draws` nothing is kept.
  async #showQuestions(draws) {
    const { words } = this;
    const line = (key, values = {}) => words.line("p", key, values, { className: "hint" });
    const [first] = this.#draws;
    const notes = first.isKept ? [] : [line("question_not_kept")];
    const isNamed = draws && this.#given.pass !== undefined;
    if (isNamed && (await first.isSharedDevice())) notes.push(line("question_other_name"));
    const send = element("button", { className: "primary" }, words.node("send"));
    const questions = this.#asked.flatMap((one) => one.questions);
    const form = this.form(questions, notes, [send, this.#decline()], "answer0");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#send(draws);
    });
    const spent = sum([first.everything, ...this.#asked.map((one) => one.epsilon)]);
    const details = this.#asked.map((one) => this.details(one, this.#digest));
    this.#step("link_to", { host: this.#host }, form, line("link_total", { epsilon: showEpsilon(spent) }), ...details);
  }

  async #send(draws) {
    const truths = this.truths();
    if (truths === null) return;
    await this.attempt(async () => {
      const drawn = [];
      for (const [place, one] of this.#asked.entries()) {
        const own = truths.splice(0, one.questions.length);
        const draw = () => one.draw(own, new Draws());
        drawn.push(draws ? await draws[place].report(draw) : { report: draw(), once: "no" });
      }
      this.clear();
      await this.#lead(drawn);
    });
  }

  #decline() {
    return button(this.words.node("link_decline"), "", () => this.attempt(() => this.#lead(null)));
  }

  // The way on, with what was drawn; null where nothing was answered.
  async #lead(drawn) {
    const { words } = this;
    const code = codeOf(this.#digest, this.#asked, drawn);
    const fields = await fieldsWith(this.#given, this.#asked, drawn, code);
    const address = addressWith(this.#given.then, { ...this.#passed, ...fields });
    const isInAddress = drawn !== null && (this.#given.code ?? this.#given.value) !== undefined;
    const notes = isInAddress ? [words.line("p", "link_before", { host: this.#host })] : [];
    const go = button(words.node("link_continue"), "primary", () => location.replace(address));
    const copied = element("span", { role: "status" });
    const copy = button(words.node("link_copy"), "", async () => {
      await navigator.clipboard.writeText(code);
      copied.replaceChildren(words.node("link_copied"));
    });
    const byHand = element("p", {}, words.node("link_by_hand"), " ", element("code", { dir: "ltr" }, code));
    this.#step("link_to", { host: this.#host }, ...notes, go, byHand, copy, copied);
  }

  // One step: who asks, where everything goes, and what else goes with it.
  #step(key, values, ...content) {
    const { words } = this;
    const title = words.line("h1", key, values, { tabIndex: -1 });
    const host = { host: this.#host };
    const named = this.#institution ? [element("p", { className: "hint", dir: "auto" }, this.#institution)] : [];
    const shared = isAnybodys(this.#host) ? [words.line("p", "link_shared", host, { className: "note" })] : [];
    const pairs = Object.entries(this.#passed).map((pair) => pair.join(" ")).join(", ");
    const passed = pairs ? [words.line("p", "link_passed", { passed: pairs }, { className: "hint" })] : [];
    this.main.replaceChildren(...named, title, ...shared, ...content, ...passed);
    title.focus();
  }
}
