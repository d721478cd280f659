import { checkDevice, Draws } from "../device/draws.js";
import { RANDOMIZERS } from "../device/randomize.js";
import { controlFor, RARE_VIEWS } from "../form/choice_input.js";
import { button, element } from "../form/dom.js";
import { numberInput } from "../form/number_input.js";
import { reportedInWords } from "../form/value_words.js";
import { Words } from "../form/words.js";
import { SurveyError } from "../survey/errors.js";
import { describeQuestion, languageOf, parseQuestion, recordOf } from "./core.js";
import { DrawsOnce } from "./draws_once.js";
import { bringEveryMechanism } from "./every_mechanism.js";
import { protectionDetails } from "./protection_details.js";
import { isWithinReach } from "./reach.js";
import { applyStyle } from "./style.js";
import { watchVisibility } from "./watch_visibility.js";

const MOST_OF_WINDOW = 0.8;
const PATIENCE = 1000;
const LEAST_HEIGHT = 240;

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

/** One question in its frame, from the asking of the page around it to the record that it gets. */
class Frame {
  #given;
  #origin;
  #words;
  #main = document.getElementById("main");
  #control = null;
  #isSent = false;
  #timer = 0;

  /** `event` is the message that asks: `{ question, study, participant, language, style, sharedDevice, height }`. */
  constructor({ data, origin }, sentences) {
    this.#given = data;
    this.#origin = origin;
    const wished = typeof data.language === "string" ? [data.language] : [];
    this.#words = new Words(async (tag) => sentences[tag], [...wished, ...navigator.languages]);
    // Nothing chosen outlives the visit, not even in the browser's back-forward cache.
    addEventListener("pagehide", () => this.#control?.clear());
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
    // Fixed before anything is chosen, so that no size depends on the answer.
    const most = MOST_OF_WINDOW * (Number(this.#given.height) || screen.height);
    const height = Math.ceil(Math.min(document.body.offsetHeight, Math.max(most, LEAST_HEIGHT)));
    this.#tell({ type: "sottovoce:size", height });
  }

  async #show() {
    checkReach();
    checkDevice();
    const { participant, question: asked, sharedDevice, study = "" } = this.#given;
    if (typeof participant !== "string" || typeof study !== "string") throw new SurveyError("question_participant");
    const question = parseQuestion(asked);
    await this.#words.speak({ title: question.label, defaultLanguage: languageOf(asked) });
    const { digest } = await describeQuestion(asked);
    const labels = Object.values(question.label);
    const { epsilon, name } = question;
    const draws = new DrawsOnce({ origin: this.#origin, study, participant, digest, name, labels, epsilon });
    await draws.check();
    const earlier = (await draws.earlier()) !== null;
    const notes = await this.#notes(draws, earlier, sharedDevice === true);
    const details = protectionDetails(question, digest, this.#words);
    this.#main.replaceChildren(this.#form(question, draws, notes, earlier), details);
    watchVisibility(this.#main, (isCovered) => this.#cover(isCovered));
  }

  async #notes(draws, earlier, sharedDevice) {
    const keys = [];
    if (earlier) keys.push("question_earlier");
    else if (sharedDevice || (await draws.isSharedDevice())) keys.push("question_other_name");
    if (!draws.isKept) keys.push("question_not_kept");
    return keys.map((key) => this.#words.line("p", key, {}, { className: sharedDevice ? "hint" : "note" }));
  }

  #form(question, draws, notes, earlier) {
    const words = this.#words;
    const control = earlier ? null : controlFor(question, "answer", words);
    this.#control = control;
    const aside = { className: "fault", hidden: true };
    const fault = words.line("p", ...(control?.fault ?? ["missing", {}]), { id: "answer-fault", ...aside });
    const hint = question.hint ? [words.text("p", question.hint, { className: "hint" })] : [];
    const note = control?.note ? [words.line("p", ...control.note, { id: "answer-note", className: "hint" })] : [];
    const legend = element("legend", { id: "answer-label" }, words.text("span", question.label));
    const fields = element("fieldset", {}, legend, ...hint, ...notes, ...note, ...(control?.nodes ?? []), fault);
    const send = button(words.node("send"), "primary", () => this.#send(question, draws, control, fault));
    const small = { className: "hint" };
    const said = [element("p", small, words.odds(question)), words.line("p", "question_identity", {}, small)];
    const covered = words.line("p", "question_covered", {}, { id: "covered", ...aside });
    const form = element("form", { autocomplete: "off", noValidate: true }, fields, ...said, covered, send);
    // A frame of this kind may send no form; the key that sends one elsewhere does here what the button does.
    form.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !["text", "date"].includes(event.target.type)) return;
      event.preventDefault();
      send.click();
    });
    return form;
  }

  // The page around this frame hears of an answer once, when the button is pressed.
  async #send(question, draws, control, fault) {
    const answer = control?.read();
    const truth = control === null ? null : truthOf(question, answer);
    fault.hidden = control === null || truth !== null;
    if (!fault.hidden) {
      control.faulty().focus({ preventScroll: true });
      return;
    }
    this.#isSent = true;
    this.#cover(false);
    try {
      checkReach();
      const randomizer = RANDOMIZERS.get(question.mechanism.name);
      const drawn = await draws.report(() => randomizer(question.mechanism, truth, new Draws()));
      const record = await recordOf(this.#given.question, drawn.report, drawn.once);
      control?.clear();
      this.#tell({ type: "sottovoce:record", record });
      this.#finish(question, drawn.report);
    } catch (error) {
      control?.clear();
      this.#refuse(error.sentence ?? "error_unexpected", error.values);
    }
  }

  #finish(question, report) {
    const words = this.#words;
    const start = words.line("h1", "question_done", {}, { tabIndex: -1 });
    const shown = element("p", {}, reportedInWords(question, report, words));
    const details = element("details", {}, words.line("summary", "question_reported"), shown);
    this.#main.querySelector("form").replaceWith(element("div", { role: "status" }, start), details);
    start.focus({ preventScroll: true });
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

function checkReach() {
  if (isWithinReach()) throw new SurveyError("question_reach");
}

// The true value of an answer; null for none that fits.
function truthOf(question, answer) {
  try {
    return answer === undefined ? null : question.encode(answer);
  } catch {
    return null;
  }
}
