import { checkDevice, Draws } from "../device/draws.js";
import { controlFor, RARE_VIEWS } from "../form/choice_input.js";
import { button, element } from "../form/dom.js";
import { numberInput } from "../form/number_input.js";
import { reportedInWords } from "../form/value_words.js";
import { Words } from "../form/words.js";
import { SurveyError } from "../survey/errors.js";
import { digestOf, readAskedAlone, recordOf } from "./core.js";
import { DrawsOnce } from "./draws_once.js";
import { bringEveryMechanism } from "./every_mechanism.js";
import { fieldsOf, truthOf } from "./fields.js";
import { protectionDetails } from "./protection_details.js";
import { checkReach } from "./reach.js";
import { applyStyle } from "./style.js";
import { watchVisibility } from "./watch_visibility.js";

const MOST_OF_WINDOW = 0.8;
const PATIENCE = 1000;
const LEAST_HEIGHT = 240;
const FAULT = Object.freeze({ className: "fault", hidden: true });

/** Offer the question to the page around this frame, and show the first that it names; a second one is not heard. */
export function startFrame() {
  bringEveryMechanism();
  RARE_VIEWS.numberInput = numberInput;
  const sentences = JSON.parse(document.getElementById("sentences").textContent);
  const receive = (event) => {
    if (event.source !== parent || event.data?.type !== "sottovoce:ask") return;
    removeEventListener("message", receive);
    new Frame(event, sentences).open();
  };
  addEventListener("message", receive);
  if (parent !== window) parent.postMessage({ type: "sottovoce:ready" }, "*");
}

/** One question in its frame, or several together, from the asking of the page around it to the record that it gets. */
class Frame {
  #given;
  #origin;
  #words;
  #main = document.getElementById("main");
  #parts = [];
  #isSent = false;
  #timer = 0;

  /** `event` is the message that asks: `{ question, study, participant, language, style, sharedDevice, height }`. */
  constructor({ data, origin }, sentences) {
    this.#given = data;
    this.#origin = origin;
    const wished = typeof data.language === "string" ? [data.language] : [];
    this.#words = new Words(async (tag) => sentences[tag], [...wished, ...navigator.languages]);
    // Nothing chosen outlives the visit, not even in the browser's back-forward cache.
    addEventListener("pagehide", () => this.#clear());
    // Its parts do not move the page around it, so who comes by keyboard sees all of it, whatever part has the focus.
    addEventListener("focus", () => addEventListener("keyup", showWhole, { once: true }));
  }

  /** Show the question, or why there is none. */
  async open() {
    try {
      await this.#words.speak();
      applyStyle(this.#given.style);
      await this.#show();
    } catch (error) {
      if (!(error instanceof SurveyError)) console.error(error.name);
      this.#refuse(error.sentence ?? "error_unexpected", error.values);
    }
    // In a part of the page that is not shown yet, nothing has a height.
    if (window.innerWidth === 0) await new Promise((shown) => addEventListener("resize", shown, { once: true }));
    // Fixed before anything is chosen, so that no size depends on the answer.
    const most = MOST_OF_WINDOW * (Number(this.#given.height) || screen.height);
    const height = Math.ceil(Math.min(this.#main.scrollHeight, Math.max(most, LEAST_HEIGHT)));
    this.#tell({ type: "sottovoce:size", height });
  }

  async #show() {
    checkReach();
    checkDevice();
    const { participant, question: document, sharedDevice, study = "" } = this.#given;
    if (typeof participant !== "string" || typeof study !== "string") throw new SurveyError("question_participant");
    const asked = readAskedAlone(document);
    const { epsilon, language, questions } = asked;
    await this.#words.speak({ title: questions[0].label, defaultLanguage: language });
    const digest = await digestOf(document);
    const draws = new DrawsOnce({ origin: this.#origin, study, participant, digest, questions, epsilon });
    await draws.check();
    const earlier = (await draws.earlier()) !== null;
    const notes = await this.#notes(draws, earlier, sharedDevice === true);
    const details = protectionDetails(asked, digest, this.#words);
    this.#main.replaceChildren(this.#form(asked, draws, notes, earlier), details);
    watchVisibility(this.#main, (isCovered) => this.#cover(isCovered));
  }

  async #notes(draws, earlier, sharedDevice) {
    const keys = [];
    if (earlier) keys.push("question_earlier");
    else if (sharedDevice || (await draws.isSharedDevice())) keys.push("question_other_name");
    if (!draws.isKept) keys.push("question_not_kept");
    return keys.map((key) => this.#words.line("p", key, {}, { className: sharedDevice ? "hint" : "note" }));
  }

  #form(asked, draws, notes, earlier) {
    const words = this.#words;
    const odds = asked.questions.map((question) => element("p", { className: "hint" }, words.odds(question)));
    const isOne = odds.every((node) => node.textContent === odds[0].textContent);
    this.#parts = asked.questions.map((question, place) => {
      const id = place === 0 ? "answer" : `answer${place}`;
      const control = earlier ? null : controlFor(question, id, words);
      const fault = words.line("p", ...(control?.fault ?? ["missing", {}]), { ...FAULT, id: `${id}-fault` });
      const fields = fieldsOf(question, control, id, place === 0 ? notes : [], words);
      fields.append(fault, ...(isOne ? [] : [odds[place]]));
      return { control, fault, fields, question };
    });
    const send = button(words.node("send"), "primary", () => this.#send(asked, draws, earlier));
    const small = { className: "hint" };
    const said = [...(isOne ? odds.slice(0, 1) : []), words.line("p", "question_identity", {}, small)];
    const covered = words.line("p", "question_covered", {}, { ...FAULT, id: "covered" });
    const fields = this.#parts.map((part) => part.fields);
    const form = element("form", { autocomplete: "off", noValidate: true }, ...fields, ...said, covered, send);
    // A frame of this kind may send no form; the key that sends one elsewhere does here what the button does.
    form.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !["text", "date"].includes(event.target.type)) return;
      event.preventDefault();
      send.click();
    });
    return form;
  }

  // The page around this frame hears of an answer once, when the button is pressed.
  async #send(asked, draws, earlier) {
    const truths = this.#parts.map(({ control, question }) => earlier ? null : truthOf(question, control.read()));
    const open = earlier ? [] : this.#parts.filter((_, place) => truths[place] === null);
    for (const part of this.#parts) part.fault.hidden = !open.includes(part);
    if (open.length > 0) {
      open[0].control.faulty().focus({ preventScroll: true });
      this.#main.scrollTop = open[0].fields.offsetTop - this.#main.firstChild.offsetTop;
      return;
    }
    this.#isSent = true;
    this.#cover(false);
    try {
      checkReach();
      const drawn = await draws.report(() => asked.draw(truths, new Draws()));
      const record = await recordOf(asked.document, drawn.report, drawn.once);
      this.#clear();
      this.#tell({ type: "sottovoce:record", record });
      this.#finish(asked, drawn.report);
    } catch (error) {
      this.#clear();
      this.#refuse(error.sentence ?? "error_unexpected", error.values);
    }
  }

  #clear() {
    for (const { control } of this.#parts) control?.clear();
  }

  #finish({ codes, questions }, report) {
    const words = this.#words;
    const start = words.line("h1", "question_done", {}, { tabIndex: -1 });
    const shown = codes(report).map((code, place) => {
      const question = questions[place];
      const label = questions.length > 1 ? [words.text("span", question.label), words.node("colon")] : [];
      return element("p", {}, ...label, reportedInWords(question, code, words));
    });
    const details = element("details", {}, words.line("summary", "question_reported"), ...shown);
    this.#main.querySelector("form").replaceWith(element("div", { role: "status" }, start), details);
    start.focus({ preventScroll: true });
    this.#main.scrollTop = 0;
  }

  // What covers it for a moment only, as while the page is still built, is not worth a sentence.
  #cover(isCovered) {
    const nodes = this.#main.querySelectorAll("form > fieldset, form > button");
    for (const node of nodes) node.disabled = isCovered || this.#isSent;
    if (isCovered && this.#timer) return;
    clearTimeout(this.#timer);
    const tell = () => {
      const note = this.#main.querySelector("#covered");
      if (note) note.hidden = !isCovered;
    };
    if (!isCovered) tell();
    this.#timer = isCovered ? setTimeout(tell, PATIENCE) : 0;
  }

  #refuse(sentence, values = {}) {
    const node = element("div", { className: "problem", role: "alert" }, this.#words.line("p", sentence, values));
    this.#main.replaceChildren(node);
    this.#tell({ type: "sottovoce:unavailable", reason: sentence });
  }

  #tell(message) {
    // A page without an origin of its own, such as a file, cannot be named.
    parent.postMessage(message, this.#origin === "null" ? "*" : this.#origin);
  }
}

function showWhole({ key }) {
  if (key === "Tab") document.documentElement.scrollIntoView({ block: "nearest" });
}
