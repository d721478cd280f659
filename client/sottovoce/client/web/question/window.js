import { button, element } from "../form/dom.js";
import { SurveyError } from "../survey/errors.js";
import { AskedByPage } from "./asked_by_page.js";

const LONGEST_WAIT = 5000;

/**
 * Offer the question to the page that opened this window. Its first message fixes question and asker; whatever comes
 * after that, but the acknowledgement of a record, ends the asking.
 */
export function startWindow(sentences) {
  const { opener } = window;
  const nonce = crypto.randomUUID?.();
  let asking = null;
  const begin = (event) => {
    asking = new QuestionWindow(event, sentences, opener, nonce);
    asking.open();
  };
  addEventListener("message", (event) => {
    if (event.source !== opener || opener === null) return;
    if (asking === null) begin(event);
    else asking.hear(event.data);
  });
  addEventListener("hashchange", () => asking?.change());
  // A page that cannot answer this would not get the record either.
  opener?.postMessage({ type: "sottovoce:ready", nonce }, "*");
  setTimeout(() => asking ?? begin({ data: {}, origin: "null" }), opener ? LONGEST_WAIT : 0);
}

class QuestionWindow extends AskedByPage {
  claims = ["question_window"];
  #opener;
  #nonce;
  #problem = "";
  #free = () => {};
  #finish = null;
  #hold = (event) => event.preventDefault();

  constructor(event, sentences, opener, nonce) {
    super(event, sentences);
    this.#opener = opener;
    this.#nonce = nonce;
    document.body.className = "window";
    const { data, origin } = event;
    const isAsked = data?.type === "sottovoce:ask" && data.nonce === nonce && origin.startsWith("http");
    if (!isAsked) this.#problem = "question_alone";
  }

  /** Refuse to go on once something has ended the asking. */
  check() {
    if (this.#problem) throw new SurveyError(this.#problem);
  }

  async begin(draws) {
    const free = await draws.claim();
    if (free === null) throw new SurveyError("question_elsewhere");
    this.#free = free;
  }

  /** What the page that asked says after its question. */
  hear(data) {
    if (this.#finish === null || data?.type !== "sottovoce:kept" || data.nonce !== this.#nonce) this.change();
    else this.#end();
  }

  /** Cover the question, since what is asked or who asks may have changed. */
  change() {
    if (this.#finish !== null) return;
    this.#problem ||= "question_changed";
    removeEventListener("beforeunload", this.#hold);
    this.clear();
    this.#free();
    this.refuse(this.#problem);
  }

  heading() {
    const { host } = new URL(this.origin);
    return [this.words.line("h1", "question_goes_to", { host }, { tabIndex: -1 })];
  }

  sentences() {
    const keys = ["question_identity", "question_window"];
    return keys.map((key) => this.words.line("p", key, {}, { className: "hint" }));
  }

  // One place for what ends the visit, whatever was chosen: the pointer is over the other page after it.
  ending(send) {
    const decline = button(this.words.node("question_decline"), "second", () => this.#decline());
    return [element("div", { className: "ending" }, send, decline)];
  }

  // A key that chooses or writes sends nothing.
  enter(event) {
    event.preventDefault();
  }

  shown() {
    const form = this.main.querySelector("form");
    form.addEventListener("input", () => addEventListener("beforeunload", this.#hold), { once: true });
    // WebKit leaves an option that an arrow key chooses out of view.
    form.addEventListener("focusin", ({ target }) => target.scrollIntoView({ block: "nearest" }));
    this.main.querySelector("h1").focus();
  }

  handOver(record, finish) {
    this.#part({ type: "sottovoce:record", record, said: this.words.translate("question_done") }, finish, record.once);
  }

  #decline() {
    this.clear();
    const finish = () => this.say("question_declined");
    this.#part({ type: "sottovoce:declined", said: this.words.translate("question_declined") }, finish);
  }

  #part(message, finish, once = "") {
    this.isSent = true;
    removeEventListener("beforeunload", this.#hold);
    this.#finish = finish;
    this.#free();
    this.tell(message);
    setTimeout(() => {
      if (this.#finish === finish) this.say(once === "no" ? "question_lost" : "question_back");
    }, LONGEST_WAIT);
  }

  #end() {
    const finish = this.#finish;
    this.#finish = () => {};
    // Where it stays open, it says that it can be closed.
    if (this.main.querySelector("form")) finish();
    this.main.append(this.words.line("p", "question_close"));
    window.close();
  }

  tell(message) {
    if (this.origin.startsWith("http")) this.#opener.postMessage({ nonce: this.#nonce, ...message }, this.origin);
  }
}
