import { toColumns } from "./columns.js";
import { faultOf, labelOf, node, parsed } from "./element_parts.js";

const WAIT = 15_000;
const PEEK = 500;
const NONE = { value: "", channel: "", once: "" };
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
  /** Other ways than the window, by `mode`: `(element, address)` gives `{ node, given() }`. */
  static ways = {};
  #internals = this.attachInternals();
  #root = this.attachShadow({ mode: "open" });
  #given = null;
  #record = null;
  #state = "";
  #way = null;
  #src = null;
  #peer = null;
  #isLinked = false;
  #timer = 0;
  #button = node("button", { type: "button", part: "button", onclick: () => this.#press() });
  #status = node("p", { role: "status" });

  /** The question as an object; the attribute `question` has it as JSON. Another question has no record yet. */
  get question() {
    return this.#given ?? parsed(this.getAttribute("question"));
  }

  set question(question) {
    if (JSON.stringify(question) === JSON.stringify(this.question)) return;
    [this.#given, this.#record, this.#state] = [question, null, ""];
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
    const found = {};
    for (const name of this.question?.items?.map((item) => item?.name) ?? [this.name]) {
      Object.assign(found, toColumns(this.#record ?? NONE, name), { [`${name}_state`]: this.#state });
    }
    return found;
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
    if (fault) this.#fail(fault);
    else if (this.question) this.#show();
  }

  disconnectedCallback() {
    removeEventListener("message", this.#receive);
    clearTimeout(this.#timer);
  }

  /** A form that is reset forgets nothing: the draw stays what it is. */
  formResetCallback() {}
  #show() {
    this.#src = new URL(this.getAttribute("src"), location);
    addEventListener("message", this.#receive);
    this.#button.textContent = labelOf(this, this.#language);
    // The module of another way may come later, and shows the question again.
    this.#way = SottovoceQuestion.ways[this.getAttribute("mode")]?.(this, this.#src);
    if (this.#way) this.#wait();
    this.#root.replaceChildren(...(this.#way ? [this.#way.node] : [this.#button, this.#status]));
    this.#become("shown");
  }

  #press() {
    if (this.#record) return;
    if (this.#peer?.closed === false) return this.#peer.focus();
    const peer = open(this.#src);
    if (peer) return this.#watch(peer);
    // A browser that opens no window for a script may follow a link.
    const onclick = () => void (this.#isLinked = true);
    const { textContent } = this.#button;
    this.#root.replaceChildren(node("a", { href: this.#src, target: "_blank", rel: "opener", onclick, textContent }));
    this.#become("blocked", "no window");
  }

  #watch(peer) {
    this.#peer = peer;
    this.#wait();
    const look = setInterval(() => {
      if (!peer.closed) return;
      clearInterval(look);
      clearTimeout(this.#timer);
      // One that shares no window with other pages is closed at once.
      if (this.#state === "shown") this.#become("blocked", "no window");
      if (this.#state === "opened") this.#become("closed");
      this.#button.focus();
    }, PEEK);
  }

  #wait() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#fail("not loaded"), WAIT);
  }

  #receive = ({ data, origin, source }) => {
    if (origin !== this.#src.origin) return;
    const { nonce, said, type } = data ?? {};
    const isReady = type === "sottovoce:ready";
    if (isReady && this.#isLinked && !this.#peer) this.#watch(source);
    if (source !== (this.#way?.node.contentWindow ?? this.#peer)) return;
    const reply = (message) => source.postMessage({ nonce, ...message }, origin);
    if (isReady) reply(this.#asked());
    else this.#take(data ?? {});
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
      ...this.#way?.given(),
    };
  }

  #become(state, reason, said = "") {
    this.#state = state;
    this.#status.textContent = said;
    const data = new FormData();
    for (const column of Object.entries(this.columns)) data.append(...column);
    this.#internals.setFormValue(data);
    const valueMissing = this.hasAttribute("required") && ["shown", "opened", "closed"].includes(state);
    this.#internals.setValidity({ valueMissing }, this.#button.textContent || state);
    this.#tell("state", state);
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
  if (known && !known.get("sottovoce-question")) known.define("sottovoce-question", SottovoceQuestion);
}
