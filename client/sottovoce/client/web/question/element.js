import { columnsOf } from "./columns.js";
import { BUTTON, faultOf, node } from "./element_parts.js";

/**
 * `<sottovoce-question>`: one private question in a page of another survey, answered in a window of its own.
 * Attributes: `src` (address of the question's page, on another origin), `question` (JSON, or the property),
 * `participant`,
 * `study`, `name`, `required`, `lang`, and `mode`: `window`, or `frame` with the module that brings it.
 *
 * In a form it submits the columns. Events: `sottovoce-state` with the state, `sottovoce-record` with the record, and
 * `sottovoce-unavailable` with a reason.
 */
export class SottovoceQuestion extends (globalThis.HTMLElement ?? Object) {
  static formAssociated = true;
  /** Other ways than the window, by `mode`: `(element, address)` gives a frame, and the element its own `given`. */
  static ways = {};
  #internals = this.attachInternals();
  #root = this.attachShadow({ mode: "open" });
  #given;
  #record = null;
  #state = "";
  #src;
  /** The window; undefined while a link was followed and its window has not spoken yet. */
  #peer = null;
  #timer;
  #button = node("button", { part: "button", onclick: () => this.#press() });
  #status = node("p", { role: "status" });

  /** The question as an object; the attribute `question` has it as JSON. Another question has no record yet. */
  get question() {
    try {
      return this.#given ?? JSON.parse(this.getAttribute("question"));
    } catch {
      return null;
    }
  }

  set question(question) {
    if (JSON.stringify(question) === JSON.stringify(this.question)) return;
    [this.#given, this.#record] = [question, null];
    this.#state &&= "shown";
    if (this.isConnected) this.connectedCallback();
  }

  /** The record; null until it arrives. */
  get record() {
    return this.#record;
  }

  /** One of: shown, opened, answered, declined, blocked, closed. */
  get state() {
    return this.#state;
  }

  /** The columns of record and state, four for each question, by name; empty texts before the record arrives. */
  get columns() {
    return columnsOf(this);
  }

  /** Name of the first column. */
  get name() {
    return this.getAttribute("name") ?? this.question?.name ?? this.question?.block ?? "";
  }

  /** The form that it belongs to. */
  get form() {
    return this.#internals.form;
  }

  /** Whether it keeps a form from being sent. */
  get validity() {
    return this.#internals.validity;
  }

  /** Say, as form controls do, whether it is answered or declined where it must be. */
  checkValidity() {
    return this.#internals.checkValidity();
  }

  connectedCallback() {
    const fault = faultOf(this);
    if (fault) return this.#fail(fault);
    if (!this.question) return;
    this.#src = new URL(this.getAttribute("src"), location);
    addEventListener("message", this.#receive);
    const label = BUTTON[this.#language.split("-")[0]] ?? BUTTON.en;
    this.#button.textContent = `${label}: ${this.ariaLabel ?? this.name}`;
    // The module of another way may come later, and shows the question again.
    const frame = SottovoceQuestion.ways[this.getAttribute("mode")]?.(this, this.#src);
    this.#root.replaceChildren(...(frame ? [frame] : [this.#button, this.#status]));
    if (frame) this.#wait(frame.contentWindow);
    this.#become("shown");
  }

  disconnectedCallback() {
    removeEventListener("message", this.#receive);
    clearTimeout(this.#timer);
  }


  #press() {
    if (this.#record) return;
    if (this.#peer?.closed === false) return this.#peer.focus();
    const peer = open(this.#src);
    if (peer) return this.#watch(peer);
    // A browser that opens no window for a script may follow a link.
    const onclick = () => void (this.#peer = undefined);
    const { textContent } = this.#button;
    this.#root.replaceChildren(node("a", { href: this.#src, target: "_blank", rel: "opener", onclick, textContent }));
    this.#become("blocked", "no window");
  }

  #watch(peer) {
    this.#wait(peer);
    const look = setInterval(() => {
      if (!peer.closed) return;
      clearInterval(look);
      clearTimeout(this.#timer);
      // One that shares no window with other pages is closed at once.
      if (this.#state === "shown") this.#become("blocked", "no window");
      if (this.#state === "opened") this.#become("closed");
      this.#button.focus();
    }, 500);
  }

  #wait(peer) {
    this.#peer = peer;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#fail("not loaded"), 15_000);
  }

  #receive = ({ data, origin, source }) => {
    if (!data || origin !== this.#src.origin) return;
    const { nonce, said, type } = data;
    const isReady = type === "sottovoce:ready";
    if (isReady && this.#peer === undefined) this.#watch(source);
    if (source !== this.#peer) return;
    const reply = (message) => source.postMessage({ nonce, ...message }, origin);
    if (isReady) reply(this.#asked());
    else this.#take(data);
    if (said) reply({ type: "sottovoce:kept" });
  };

  #take({ reason, record, said, type }) {
    if (type === "sottovoce:unavailable") this.#become("blocked", reason);
    if (type === "sottovoce:declined") this.#become("declined", "", said);
    if (type !== "sottovoce:record" || this.#record) return;
    this.#record = record;
    this.#become("answered", "", said);
    this.#tell("record", record);
  }

  #asked() {
    clearTimeout(this.#timer);
    this.#become("opened");
    return {
      type: "sottovoce:ask",
      question: this.question,
      participant: this.getAttribute("participant"),
      study: this.getAttribute("study") ?? "",
      language: this.#language,
      sharedDevice: "sharedDevice" in this.dataset,
      ...this.given?.(),
    };
  }

  #become(state, reason, said = "") {
    // What is answered stays so, wherever the page moves the element.
    this.#state = this.#record ? "answered" : state;
    this.#status.textContent = said;
    const data = new FormData();
    for (const column of Object.entries(this.columns)) data.append(...column);
    this.#internals.setFormValue(data);
    const valueMissing = this.hasAttribute("required") && "shown opened closed".includes(this.#state);
    this.#internals.setValidity({ valueMissing }, this.#button.textContent);
    this.#tell("state", this.#state);
    if (reason) this.#tell("unavailable", reason);
  }

  #fail(reason) {
    console.error(`sottovoce-question: ${reason}`);
    this.#root.replaceChildren(node("slot", { role: "alert", textContent: "This question could not be opened." }));
    this.#become("blocked", reason);
  }

  get #language() {
    return this.closest("[lang]")?.lang || navigator.language;
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(`sottovoce-${type}`, { detail, bubbles: true }));
  }
}

/** Make the element known to the page, once; where a server imports this, there is no page. */
export function defineQuestion() {
  const known = globalThis.customElements;
  if (!known?.get("sottovoce-question")) known?.define("sottovoce-question", SottovoceQuestion);
}
