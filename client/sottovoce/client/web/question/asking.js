import { checkDevice, Draws } from "../device/draws.js";
import { controlFor } from "../form/choice_input.js";
import { button, element } from "../form/dom.js";
import { reportedInWords } from "../form/value_words.js";
import { Words } from "../form/words.js";
import { SurveyError } from "../survey/errors.js";
import { ASKED_READERS, digestOf, readAskedAlone, recordOf } from "./core.js";
import { DrawsOnce } from "./draws_once.js";
import { fieldsOf, truthOf } from "./fields.js";
import { protectionDetails } from "./protection_details.js";

const FAULT = Object.freeze({ className: "fault", hidden: true });

/** One question, or several together, from the asking of another page to the record that it gets, in any way. */
export class Asking {
  main = document.getElementById("main");
  given;
  origin;
  words;
  /** Of each question: `{ control, fault, fields, question }`. */
  parts = [];
  isSent = false;

  /** `event` is the message that asks: `{ question, study, participant, language, sharedDevice }`. */
  constructor({ data, origin }, sentences) {
    this.given = data;
    this.origin = origin;
    const wished = typeof data.language === "string" ? [data.language] : [];
    this.words = new Words(async (tag) => sentences[tag], [...wished, ...navigator.languages]);
    // Nothing chosen outlives the visit, not even in the browser's back-forward cache.
    addEventListener("pagehide", () => this.clear());
  }

  /** Show the question, or why there is none. */
  async open() {
    try {
      await this.words.speak();
      await this.#show();
    } catch (error) {
      if (!(error instanceof SurveyError)) console.error(error.name);
      this.refuse(error.sentence ?? "error_unexpected", error.values);
    }
  }

  async #show() {
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
    const details = protectionDetails(asked, digest, this.words, this.claims);
    this.main.replaceChildren(...this.heading(), this.#form(asked, draws, notes, earlier), details);
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
    const { words } = this;
    const odds = asked.questions.map((question) => element("p", { className: "hint" }, words.odds(question)));
    const isOne = odds.every((node) => node.textContent === odds[0].textContent);
    this.parts = asked.questions.map((question, place) => {
      const id = place === 0 ? "answer" : `answer${place}`;
      const control = earlier ? null : controlFor(question, id, words);
      const fault = words.line("p", ...(control?.fault ?? ["missing", {}]), { ...FAULT, id: `${id}-fault` });
      const fields = fieldsOf(question, control, id, place === 0 ? notes : [], words);
      fields.append(fault, ...(isOne ? [] : [odds[place]]));
      return { control, fault, fields, question };
    });
    const send = button(words.node("send"), "primary", () => this.#send(asked, draws, earlier));
    const said = [...(isOne ? odds.slice(0, 1) : []), ...this.sentences()];
    const fields = this.parts.map((part) => part.fields);
    const form = element("form", { autocomplete: "off", noValidate: true }, ...fields, ...said, ...this.ending(send));
    form.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target.matches("input")) this.enter(event, send);
    });
    return form;
  }

  // The other page hears of an answer once, when the button is pressed.
  async #send(asked, draws, earlier) {
    if (this.isSent) return;
    const truths = this.parts.map(({ control, question }) => earlier ? null : truthOf(question, control.read()));
    const open = earlier ? [] : this.parts.filter((_, place) => truths[place] === null);
    for (const part of this.parts) part.fault.hidden = !open.includes(part);
    if (open.length > 0) {
      open[0].control.faulty().focus({ preventScroll: true });
      this.main.scrollTop = open[0].fields.offsetTop - this.main.firstChild.offsetTop;
      return;
    }
    this.isSent = true;
    for (const node of this.main.querySelectorAll("fieldset, form button")) node.disabled = true;
    try {
      const drawn = await draws.report(() => this.#draw(asked, truths));
      const record = await recordOf(asked.document, drawn.report, drawn.once);
      this.check();
      this.clear();
      this.handOver(record, () => this.#finish(asked, drawn.report));
    } catch (error) {
      this.clear();
      this.refuse(error.sentence ?? "error_unexpected", error.values);
    }
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

  /** Forget what was chosen. */
  clear() {
    for (const { control } of this.parts) control?.clear();
  }

  /** Say why there is no question, here and to the other page. */
  refuse(sentence, values = {}) {
    this.say(sentence, values);
    this.tell({ type: "sottovoce:unavailable", reason: sentence });
  }

  /** Show this sentence and nothing else. */
  say(...sentence) {
    const problem = this.words.line("p", ...sentence);
    this.main.replaceChildren(element("div", { className: "problem", role: "alert" }, problem));
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
