// Runs through the steps of the form itself: from the link to the questions, which are answered and sent, and to what
// is left when the report was forgotten. What lies between a control and the device's part is run here.
import { Device, enter, watched } from "./javascript_device.mjs";
import { PageElement, documentFor } from "./javascript_page.mjs";
import { Findings, difference, keep, unlike } from "./javascript_runs.mjs";
import { ORIGIN } from "./javascript_site.mjs";
import { isServiceable } from "./javascript_worker.mjs";

const AMPLE = { question: Infinity, total: Infinity };
const TURNS = 4000;
// Beside the script lie the sentences, of which the same are given in any language.
const BESIDE = `${ORIGIN}/assets/`;
const SENTENCES = /^https:..audit.invalid.assets.catalogues.([a-z]+)\.json$/;
const OTHER = "de";
const PLACES = ["main", "status", "broken", "header", "footer"];
const turn = globalThis.setImmediate;
const Locale = Intl.Locale;

/** What is found wrong in runs through the form, as `compareRuns` tells it. */
export async function compareForms(product, site, vectors, { catalogue, worker }) {
  const findings = new Findings();
  const { questions } = await product.loadSurvey(new TextEncoder().encode(site.text));
  allowAll(product.Form.prototype);
  if (!(await isServiceable(worker))) findings.add("worker", []);
  let count = 0;
  for (const [place, { body, redemption, runs }] of vectors.entries()) {
    const { values } = JSON.parse(body);
    const isRound = place % 2 === 1;
    const asked = questions.filter((_, index) => values[index] !== null);
    const given = { site, catalogue, redemption, asked, isRound };
    // Everybody has chosen something else before; of two, what the other one answers.
    const everybody = runs.map((run, place) => ({ ...run, before: runs[(place + 1) % runs.length].answers }));
    // The page around the form is told once, when the first report has arrived.
    if (place === 1) await observe(product, given, everybody[0]);
    const reference = await observe(product, given, everybody[0]);
    if (reference.sent.length !== 1) findings.add("broken", []);
    else if (reference.sent[0] !== body) findings.add("law", []);
    if (reference.events.some(([kind]) => kind === "beyond")) findings.add("beyond", []);
    for (const run of everybody) {
      const seen = await observe(product, given, run);
      const kind = difference(reference.events, seen.events);
      if (kind !== null) findings.add(kind, unlike(runs[0], run));
      if (!seen.isForgetful) findings.add("remembered", []);
      count += 1;
    }
  }
  return { found: findings.list, count };
}

// Whatever a survey costs, it is answered.
function allowAll(form) {
  const { open } = form;
  form.open = function (href, setup) {
    return open.call(this, href, setup, AMPLE);
  };
}

async function observe(product, { site, catalogue, asked, redemption, isRound }, { answers, before, tape }) {
  const sent = [];
  const answer = (request) => {
    const language = SENTENCES.exec(request.address)?.[1];
    if (language) return [200, JSON.stringify({ ...catalogue, language })];
    if (site.isForReports(request)) {
      sent.push(request.body);
      keep(device, "waiting");
    }
    return site.answer(request);
  };
  const bytes = Buffer.from(tape, "hex");
  const [from, to] = redemption;
  const device = new Device(bytes, answer, 0, site.present);
  enter(device);
  const page = new Page(device, isRound);
  try {
    await page.open(product, site, bytes.subarray(from, to));
    page.choose(asked, before);
    await (isRound ? page.comeBack() : page.changeLanguage());
    page.choose(asked, answers);
    await page.review();
    await page.send(bytes.subarray(to));
  } catch {
    device.tell("broken");
  }
  await device.leave();
  return { events: device.events, sent, isForgetful: page.isForgetful };
}

// The form asks for the direction of each text it shows; node answers slowly, and always the same.
const SPELLED = ["baseName", "language", "region", "script"];
const known = new Map();
function KnownLocale(tag) {
  if (!known.has(tag)) {
    const locale = new Locale(tag);
    const likely = locale.maximize();
    for (const name of SPELLED) Object.defineProperty(likely, name, { value: likely[name] });
    known.set(tag, Object.defineProperty(locale, "maximize", { value: () => likely }));
  }
  return known.get(tag);
}

class Page {
  isForgetful = true;
  #listeners = [];

  /** In every second vector the page stands within another one. */
  constructor(device, isWithin) {
    this.device = device;
    this.elements = Object.fromEntries(PLACES.map((id) => [id, new PageElement(id === "main" ? "main" : "div")]));
    [this.main, this.status] = [this.elements.main, this.elements.status];
    const addEventListener = (type, work) => {
      const listener = typeof work === "function" ? work : (event) => work.handleEvent(event);
      this.#listeners.push([type, listener]);
      device.hand(listener);
    };
    const document = documentFor({
      tell: (name, value) => device.tell("page", `document ${name}`, value),
      tellUnknown: (...what) => device.tell("beyond", ...what),
      heard: (event) => this.#listeners.forEach(([type, work]) => type === event.type && work(event)),
      elements: this.elements,
      addEventListener,
    });
    Intl.Locale = KnownLocale;
    const parent = isWithin ? watched("parent") : globalThis;
    const size = { scrollTo: () => {}, ResizeObserver: Unseeing, innerHeight: 1 };
    lend({ document, ...size, addEventListener, removeEventListener: () => {}, parent, self: globalThis });
  }

  /** From the link to the questions; `redemption` are the bytes that are drawn when it is begun. */
  async open(product, { link, name, token, wave }, redemption) {
    this.device.address = `${ORIGIN}/s/${name}#d=${link.digest}${token && `&t=${token}`}&w=${wave}`;
    product.start([], BESIDE);
    const isMain = ({ className }) => className === "primary";
    await this.until(() => this.main.first((node) => node.tag === "button" && isMain(node)) && this.language);
    Object.assign(this.device, { random: redemption, position: 0 });
    this.press(isMain);
    await this.until(() => this.find("check") ?? this.find("consent") ?? this.form);
    if (this.find("consent")) this.press(({ className }) => className === "primary");
    await this.until(() => this.find("check") ?? this.form);
    if (this.find("check")) this.press(({ className }) => className === "");
    await this.until(() => this.form && !this.find("check"));
  }

  get language() {
    return this.elements.header.first(({ tag }) => tag === "select");
  }

  /** The page speaks another language from here on. */
  async changeLanguage() {
    this.language.value = OTHER;
    this.language.happen("change");
    await this.until(() => document.documentElement.lang === OTHER);
  }

  /** To the review and back to the questions. */
  async comeBack() {
    await this.review();
    this.press(({ className }) => className === "");
    await this.until(() => this.form);
  }

  /** Answer what is shown, whatever was chosen there before. */
  choose(asked, answers) {
    for (const [place, question] of asked.entries()) {
      if (this.find(`q${place}-0`)?.isHidden !== false) continue;
      this.enter(`q${place}`, entriesOf(question, answers[question.name] ?? null));
    }
    for (const box of this.main.all(({ id }) => /^a[0-9]+$/.test(id ?? ""))) if (!box.isHidden) put(box, null);
  }

  // What is no longer chosen is given up first.
  enter(field, entries) {
    const named = new Map(entries.map(([control, text]) => [`${field}-${control}`, text]));
    const own = new RegExp(`^${field}-(?:[0-9]+|absent)$`);
    const inputs = this.main.all(({ tag, id }) => tag === "input" && own.test(id ?? ""));
    for (const input of inputs) if (!named.has(input.id)) giveUp(input);
    for (const [id, text] of named) put(this.find(id), text);
    this.isForgetful &&= inputs.every(isForgotten);
  }

  /** Go on to the review. */
  async review() {
    this.form.happen("submit");
    await this.until(() => !this.form);
  }

  /** From the press that sends until the report is forgotten. */
  async send(tape) {
    Object.assign(this.device, { random: tape, position: 0 });
    this.press(({ className }) => className === "primary");
    await this.until(() => this.find("receipt_sha256"));
    this.show("sent");
    this.press(({ type }) => type === "button", 1);
    await this.until(() => this.find("confirm"));
    this.press(({ className }) => className === "primary");
    await this.until(() => this.find("ended") ?? this.find("receipt"));
    this.show("forgotten");
  }

  show(moment) {
    this.device.tell("shown", moment, this.main.shown(), this.status.shown());
    keep(this.device, moment);
  }

  press(holds, place = 0) {
    this.main.all((node) => node.tag === "button" && holds(node))[place].happen("click");
  }

  async until(holds) {
    for (let count = 0; !holds(); count += 1) {
      if (count >= TURNS) throw new RangeError();
      await new Promise((resolve) => turn(resolve));
    }
  }

  find(id) {
    return this.main.named(id);
  }

  get form() {
    return this.main.querySelector("form");
  }
}

// [control, text to enter or null to tick it] for an answer.
function entriesOf({ domain: { grid, options } }, given) {
  if (given === null) return [["absent", null]];
  if (grid !== null) return options.length ? options.map((name, place) => [place, given[name]]) : [[0, given]];
  return [given].flat().map((name) => [options.indexOf(name), null]);
}

// Whether the browser is asked not to keep what is entered.
function isForgotten(input) {
  for (let node = input; node; node = node.parent) if (node.autocomplete) return node.autocomplete === "off";
  return false;
}

function giveUp(input) {
  const isChosen = input.checked;
  input.checked = false;
  // A radio button hears nothing of it.
  if (isChosen && input.type !== "radio") for (const type of ["change", "input"]) input.happen(type);
}

function put(input, text) {
  if (text === null) input.checked = true;
  else input.value = String(text);
  for (const type of ["change", "input"]) input.happen(type);
}

// To the scripts, of which the page knows more than that they used it.
function lend(things) {
  for (const [name, value] of Object.entries(things)) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
}

class Unseeing {
  observe() {}
}
