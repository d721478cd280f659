// Runs through the steps of the form itself: from the link to the questions, which are answered and sent, and to what
// is left when the report was forgotten. What lies between a control and the device's part is run here.
import { Device, enter } from "./javascript_device.mjs";
import { PageElement, documentFor } from "./javascript_page.mjs";
import { Findings, difference, keep, unlike } from "./javascript_runs.mjs";
import { ORIGIN } from "./javascript_site.mjs";

const AMPLE = { question: Infinity, total: Infinity };
const TURNS = 4000;
const turn = globalThis.setImmediate;
const Locale = Intl.Locale;

/** What is found wrong in runs through the form, as `compareRuns` tells it; at most `most` of each vector. */
export async function compareForms(product, site, vectors, { catalogue, most }) {
  const findings = new Findings();
  const { questions } = await product.loadSurvey(new TextEncoder().encode(site.text));
  let count = 0;
  for (const { body, redemption, runs } of vectors) {
    const taken = runs.slice(0, most);
    const { values } = JSON.parse(body);
    const given = { site, catalogue, redemption, asked: questions.filter((_, index) => values[index] !== null) };
    const reference = await observe(product, given, taken[0]);
    if (reference.sent.length !== 1) findings.add("broken", []);
    else if (reference.sent[0] !== body) findings.add("law", []);
    for (const run of taken) {
      const kind = difference(reference.events, (await observe(product, given, run)).events);
      if (kind !== null) findings.add(kind, unlike(taken[0], run));
      count += 1;
    }
  }
  return { found: findings.list, count };
}

async function observe(product, { site, catalogue, asked, redemption }, { answers, tape }) {
  const sent = [];
  const answer = (request) => {
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
  const page = new Page(device);
  try {
    await page.open(product, site, catalogue, bytes.subarray(from, to));
    await page.fill(asked, answers);
    await page.send(Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]));
  } catch {
    device.tell("broken");
  }
  return { events: device.events, sent };
}

// The form asks for the direction of each text it shows; node answers slowly, and always the same.
const known = new Map();
function KnownLocale(tag) {
  if (!known.has(tag)) {
    const locale = new Locale(tag);
    const likely = locale.maximize();
    known.set(tag, Object.defineProperty(locale, "maximize", { value: () => likely }));
  }
  return known.get(tag);
}

class Page {
  main = new PageElement("main");
  status = new PageElement("p");

  constructor(device) {
    this.device = device;
    const tell = (name, value) => device.tell("page", `document ${name}`, value);
    const given = { document: documentFor(tell), scrollTo: () => {}, ResizeObserver: Unseeing, innerHeight: 1 };
    Object.assign(globalThis, given, { addEventListener: () => {}, removeEventListener: () => {} });
    Intl.Locale = KnownLocale;
    // Nobody embeds it.
    Object.assign(globalThis, { parent: globalThis, self: globalThis });
  }

  /** From the link to the questions; `redemption` are the bytes that are drawn when it is begun. */
  async open(product, { link, name, token, wave }, catalogue, redemption) {
    const words = new product.Words(async () => ({ ...catalogue, language: "en" }), ["en"]);
    const view = new product.StepView(words, this.main, this.status, () => {});
    const address = `${ORIGIN}/s/${name}#d=${link.digest}${token && `&t=${token}`}&w=${wave}`;
    await new product.Form(words, view).open(address, {}, AMPLE);
    Object.assign(this.device, { random: redemption, position: 0 });
    this.press(({ className }) => className === "primary");
    await this.until(() => this.find("check") ?? this.find("consent") ?? this.form);
    if (this.find("consent")) this.press(({ className }) => className === "primary");
    await this.until(() => this.find("check") ?? this.form);
    if (this.find("check")) this.press(({ className }) => className === "");
    await this.until(() => this.form && !this.find("check"));
  }

  /** Answer what is shown, and go on to the review. */
  async fill(asked, answers) {
    for (const [place, question] of asked.entries()) {
      if (this.find(`q${place}-0`)?.isHidden !== false) continue;
      const given = answers[question.name] ?? null;
      const entries = given === null ? [["absent", null]] : entriesOf(question, given);
      for (const [control, text] of entries) put(this.find(`q${place}-${control}`), text);
    }
    for (const box of this.main.all(({ id }) => /^a[0-9]+$/.test(id ?? ""))) if (!box.isHidden) put(box, null);
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
    return this.main.first((node) => node.id === id);
  }

  get form() {
    return this.main.querySelector("form");
  }
}

// [control, text to enter or null to tick it] for an answer.
function entriesOf({ domain: { grid, options } }, given) {
  if (grid !== null) return options.length ? options.map((name, place) => [place, given[name]]) : [[0, given]];
  return [given].flat().map((name) => [options.indexOf(name), null]);
}

function put(input, text) {
  if (text === null) input.checked = true;
  else input.value = text;
  for (const type of ["change", "input"]) input.happen(type);
}

class Unseeing {
  observe() {}
}
