import { toColumns } from "./columns.js";

const WAIT = 15_000;
const STYLES = ["paper", "ink", "accent", "on-accent", "line", "font"];
// What is said where the frame cannot speak: nothing came, and nothing is answered yet.
const SENTENCES = {
  en: ["This question could not be loaded.", "Answer this question."],
  ar: ["تعذر تحميل هذا السؤال.", "أجب عن هذا السؤال."],
  de: ["Diese Frage konnte nicht geladen werden.", "Beantworten Sie diese Frage."],
  es: ["No se pudo cargar esta pregunta.", "Responda a esta pregunta."],
  fr: ["Cette question n’a pas pu être chargée.", "Répondez à cette question."],
  hi: ["यह प्रश्न लोड नहीं हो सका।", "इस प्रश्न का उत्तर दें।"],
  pt: ["Não foi possível carregar esta pergunta.", "Responda a esta pergunta."],
  zh: ["无法加载此问题。", "请回答此问题。"],
};

/**
 * `<sottovoce-question>`: one private question in a page of another survey. Attributes: `src` (address of the frame, on
 * another origin), `question` (JSON, or the property), `participant`, `study`, `name`, `required`, `lang`.
 *
 * In a form it submits the three columns of the record. Events: `sottovoce-record` with the record, and
 * `sottovoce-unavailable` with a reason; the host hears nothing before the person presses the
 * frame's button, unless there is no question to answer.
 */
export class SottovoceQuestion extends (globalThis.HTMLElement ?? Object) {
  static formAssociated = true;
  #internals = this.attachInternals();
  #given = null;
  #record = null;
  #frame = null;
  #timer = 0;

  constructor() {
    super();
    this.attachShadow({ mode: "open" });
  }

  /** The question as an object; the attribute `question` has it as JSON. Another question has no record yet. */
  get question() {
    return this.#given ?? parsed(this.getAttribute("question"));
  }

  set question(question) {
    if (JSON.stringify(question) === JSON.stringify(this.question)) return;
    this.#given = question;
    this.#record = null;
    if (this.isConnected) this.#open();
  }

  /** The record; null until it arrives. */
  get record() {
    return this.#record;
  }

  /** The columns of the record, three for each question, by name; none before it arrives. */
  get columns() {
    return this.#record === null ? {} : toColumns(this.#record, this.name);
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

  /** Say, as form controls do, whether it is answered where it must be. */
  checkValidity() {
    return this.#internals.checkValidity();
  }

  connectedCallback() {
    this.#open();
  }

  disconnectedCallback() {
    removeEventListener("message", this.#receive);
    clearTimeout(this.#timer);
  }

  /** A form that is reset forgets nothing: the draw stays what it is. */
  formResetCallback() {}

  #open() {
    const fault = this.#fault();
    if (fault) this.#fail(fault);
    else if (this.question !== null) this.#show();
  }

  #show() {
    this.#updateForm();
    this.#frame = Object.assign(document.createElement("iframe"), {
      src: this.getAttribute("src"),
      title: this.getAttribute("aria-label") ?? this.name,
      sandbox: "allow-scripts allow-same-origin",
      referrerPolicy: "no-referrer",
      style: "border: 0; inline-size: 100%; block-size: 20rem; display: block",
    });
    if (this.question.block) this.#frame.src = new URL("block.html", this.#frame.src);
    addEventListener("message", this.#receive);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#fail("not loaded"), WAIT);
    this.shadowRoot.replaceChildren(this.#frame);
  }

  // A mistake of the page around it; the console says which.
  #fault() {
    if (!this.hasAttribute("participant")) return 'participant is missing; "" is for a device of one person';
    if (!this.hasAttribute("src")) return "src is missing: the address of the frame";
    if (this.hasAttribute("question") && parsed(this.getAttribute("question")) === null) return "question is not JSON";
    const others = [...document.querySelectorAll("sottovoce-question")].filter((other) => other !== this);
    const isSame = ({ form, name, shadowRoot }) =>
      form === this.form && name === this.name && shadowRoot.querySelector("iframe");
    return others.some(isSame) ? `two questions of one form are named ${this.name}` : "";
  }

  #receive = (event) => {
    const { type, height, reason, record } = event.data ?? {};
    if (event.source !== this.#frame.contentWindow || event.origin !== new URL(this.#frame.src).origin) return;
    if (type === "sottovoce:ready") this.#ask(event);
    if (type === "sottovoce:size" && height > 0) this.#frame.style.blockSize = `${height}px`;
    if (type === "sottovoce:unavailable") this.#tell("sottovoce-unavailable", reason);
    if (type === "sottovoce:record" && this.#record === null) this.#keep(record);
  };

  #ask({ origin, source }) {
    clearTimeout(this.#timer);
    const given = getComputedStyle(this);
    const valueOf = (name) => given.getPropertyValue(`--sottovoce-${name}`).trim();
    const style = Object.fromEntries(STYLES.map((name) => [name, valueOf(name)]));
    const participant = this.getAttribute("participant");
    const study = this.getAttribute("study") ?? "";
    const language = this.closest("[lang]")?.lang;
    const sharedDevice = "sharedDevice" in this.dataset;
    const asked = { question: this.question, participant, study, language, sharedDevice, style, height: innerHeight };
    source.postMessage({ type: "sottovoce:ask", ...asked }, origin);
  }

  #keep(record) {
    this.#record = record;
    this.#updateForm();
    this.#tell("sottovoce-record", record);
  }

  #updateForm() {
    const data = new FormData();
    for (const [name, value] of Object.entries(this.columns)) data.append(name, value);
    this.#internals.setFormValue(data);
    const valueMissing = this.hasAttribute("required") && this.#record === null;
    this.#internals.setValidity({ valueMissing }, this.#sentences()[1]);
  }

  #fail(reason) {
    console.error(`sottovoce-question: ${reason}`);
    const note = document.createElement("p");
    note.setAttribute("role", "alert");
    [note.textContent] = this.#sentences();
    this.shadowRoot.replaceChildren(note);
    this.#updateForm();
    this.#tell("sottovoce-unavailable", reason);
  }

  #sentences() {
    const tag = (this.closest("[lang]")?.lang || navigator.language).split("-")[0];
    return SENTENCES[tag] ?? SENTENCES.en;
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true }));
  }
}

function parsed(text) {
  try {
    return JSON.parse(text ?? "null");
  } catch {
    return null;
  }
}

/** Make the element known to the page, once; where a server imports this, there is no page. */
export function defineQuestion() {
  const known = globalThis.customElements;
  if (known && !known.get("sottovoce-question")) known.define("sottovoce-question", SottovoceQuestion);
}
