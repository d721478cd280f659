import { AskedByPage } from "./asked_by_page.js";
import { applyStyle } from "./style.js";
import { watchVisibility } from "./watch_visibility.js";

const MOST_OF_WINDOW = 0.8;
const PATIENCE = 1000;
const LEAST_HEIGHT = 240;

/** Offer the question to the page around this frame, and show the first that it names; a second one is not heard. */
export function startFrame(sentences) {
  const receive = (event) => {
    if (event.source !== parent || event.data?.type !== "sottovoce:ask") return;
    removeEventListener("message", receive);
    new Frame(event, sentences).open();
  };
  addEventListener("message", receive);
  parent.postMessage({ type: "sottovoce:ready" }, "*");
}

class Frame extends AskedByPage {
  claims = ["question_trusted", "question_seen"];
  #timer = 0;

  async open() {
    // Its parts do not move the page around it, so who comes by keyboard sees all of it, whatever part has the focus.
    const showWhole = () => document.documentElement.scrollIntoView({ block: "nearest" });
    addEventListener("focus", showWhole);
    addEventListener("keyup", ({ key }) => key === "Tab" && showWhole());
    applyStyle(this.given.style);
    await super.open();
    // In a part of the page that is not shown yet, nothing has a height.
    if (window.innerWidth === 0) await new Promise((shown) => addEventListener("resize", shown, { once: true }));
    // Fixed before anything is chosen, so that no size depends on the answer.
    const most = MOST_OF_WINDOW * (Number(this.given.height) || screen.height);
    const height = Math.ceil(Math.min(this.main.scrollHeight, Math.max(most, LEAST_HEIGHT)));
    this.tell({ type: "sottovoce:size", height });
  }

  check() {}

  begin() {}

  heading() {
    return [];
  }

  sentences() {
    const small = { className: "hint" };
    return ["question_identity", "question_trusted"].map((key) => this.words.line("p", key, {}, small));
  }

  ending(send) {
    return [this.words.line("p", "question_covered", {}, { className: "fault", hidden: true, id: "covered" }), send];
  }

  // A frame of this kind may send no form; the key that sends one elsewhere does here what the button does.
  enter(event, send) {
    if (!["text", "date"].includes(event.target.type)) return;
    event.preventDefault();
    send.click();
  }

  // The frame scrolls alone: the page around it would move to the option with the focus, and so see it.
  reach({ control, fields }) {
    control.faulty().focus({ preventScroll: true });
    this.main.scrollTop = fields.offsetTop - this.main.firstChild.offsetTop;
  }

  shown() {
    watchVisibility((isCovered) => this.#cover(isCovered));
  }

  // What covers it for a moment only, as while the page is still built, is not worth a sentence.
  #cover(isCovered) {
    const nodes = this.main.querySelectorAll("form > fieldset, form > button");
    for (const node of nodes) node.disabled = isCovered || this.isSent;
    if (isCovered && this.#timer) return;
    clearTimeout(this.#timer);
    const tell = () => {
      const note = this.main.querySelector("#covered");
      if (note) note.hidden = !isCovered;
    };
    if (!isCovered) tell();
    this.#timer = isCovered ? setTimeout(tell, PATIENCE) : 0;
  }

  handOver(record, finish) {
    this.#cover(false);
    this.tell({ type: "sottovoce:record", record });
    finish();
  }

  tell(message) {
    // A page without an origin of its own, such as a file, cannot be named.
    parent.postMessage(message, this.origin === "null" ? "*" : this.origin);
  }
}
