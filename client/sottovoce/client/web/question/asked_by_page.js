import { checkDevice, Draws } from "../device/draws.js";
import { button, element } from "../form/dom.js";
import { reportedInWords } from "../form/value_words.js";
import { SurveyError } from "../survey/errors.js";
import { Asking } from "./asking.js";
import { ASKED_READERS, digestOf, readAskedAlone, recordOf } from "./core.js";
import { DrawsOnce } from "./draws_once.js";

/** What another page asks, a question or several together, from its message to the record that it gets. */
export class AskedByPage extends Asking {
  given;
  origin;
  isSent = false;

  /** `event` is the message that asks: `{ question, study, participant, language, sharedDevice }`. */
  constructor({ data, origin }, sentences) {
    super(sentences, typeof data.language === "string" ? [data.language] : []);
    this.given = data;
    this.origin = origin;
  }

  /** Show the question, or why there is none. */
  open() {
    return this.attempt(() => this.#show());
  }

  async #show() {
    await this.words.speak();
    this.check();
    checkDevice();
    const { participant, question: document, sharedDevice, study = "" } = this.given;
    if (typeof participant !== "string" || typeof study !== "string") throw new SurveyError("question_participant");
    const asked = await readHere(document);
    const { epsilon, language, questions } = asked;
    await this.words.speak({ title: questions[0].label, defaultLanguage: language });
    const digest = await digestOf(document);
    const draws = new DrawsOnce({ origin: this.origin, study, participant, digest, questions, epsilon });
    await draws.check();
    await this.begin(draws);
    const earlier = (await draws.earlier()) !== null;
    const notes = await this.#notes(draws, earlier, sharedDevice === true);
    this.check();
    const form = this.#form(asked, draws, notes, earlier);
    this.main.replaceChildren(...this.heading(), form, this.details(asked, digest));
    this.shown();
  }

  async #notes(draws, earlier, sharedDevice) {
    const keys = [];
    if (earlier) keys.push("question_earlier");
    else if (sharedDevice || (await draws.isSharedDevice())) keys.push("question_other_name");
    if (!draws.isKept) keys.push("question_not_kept");
    return keys.map((key) => this.words.line("p", key, {}, { className: sharedDevice ? "hint" : "note" }));
  }

  #form(asked, draws, notes, earlier) {
    const send = button(this.words.node("send"), "primary", () => this.#send(asked, draws, earlier));
    const content = [...this.sentences(), ...this.ending(send)];
    const form = this.form(asked.questions, notes, content, "answer", earlier);
    form.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target.matches("input")) this.enter(event, send);
    });
    return form;
  }

  // The other page hears of an answer once, when the button is pressed.
  async #send(asked, draws, earlier) {
    const truths = this.isSent ? null : earlier ? this.parts.map(() => null) : this.truths();
    if (truths === null) return;
    this.isSent = true;
    for (const node of this.main.querySelectorAll("fieldset, form button")) node.disabled = true;
    await this.attempt(async () => {
      const drawn = await draws.report(() => this.#draw(asked, truths));
      const record = await recordOf(asked.document, drawn.report, drawn.once);
      this.check();
      this.clear();
      this.handOver(record, () => this.#finish(asked, drawn.report));
    });
  }

  // What has happened while the browser waited for its storage holds, too.
  #draw(asked, truths) {
    this.check();
    return asked.draw(truths, new Draws());
  }

  #finish({ codes, questions }, report) {
    const { words } = this;
    const start = words.line("h1", "question_done", {}, { tabIndex: -1 });
    const shown = codes(report).map((code, place) => {
      const question = questions[place];
      const label = questions.length > 1 ? [words.text("span", question.label), words.node("colon")] : [];
      return element("p", {}, ...label, reportedInWords(question, code, words));
    });
    const details = element("details", {}, words.line("summary", "question_reported"), ...shown);
    this.main.querySelector("form").replaceWith(element("div", { role: "status" }, start), details);
    start.focus({ preventScroll: true });
    this.main.scrollTop = 0;
  }

  /** Say why there is no question, here and to the other page. */
  refuse(sentence, values = {}) {
    this.say(sentence, values);
    this.tell({ type: "sottovoce:unavailable", reason: sentence });
  }
}

// A page for few kinds of questions hands over to the one for all, to which the other page speaks as to this one.
async function readHere(document) {
  try {
    return readAskedAlone(document);
  } catch (error) {
    if (ASKED_READERS.block) throw error;
    location.replace(new URL("block.html", location));
    return new Promise(() => {});
  }
}
