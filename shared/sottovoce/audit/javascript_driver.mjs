// Runs what the scripts beside this file do with answers, and prints what came of it. What throws is told as null, or
// as false: the reason could repeat a value.
//
// In:   { scripts, questions: [{ question, inputs, most }], survey, possible: [values], outside: [values],
//         set: a survey or null, lives: [{ survey, answers: for each truth those of each wave }], most }
// Out:  { laws: for each question a list of { law: { reported: "part/whole" }, bounds: [[..]] } by input,
//         procedures: for each question what a person does by hand, accepted: whether each report of what is possible
//         was drawn, refused: whether each other one was refused, set: the law of the questions asked,
//         lives: for each one the laws of all its reports together, by truth }
import { readFileSync } from "node:fs";

const { scripts, questions, survey, possible, outside, set, lives, most } = JSON.parse(readFileSync(0, "utf-8"));
const product = Object.assign({}, ...(await Promise.all(scripts.map((script) => import(`./${script}`)))));
// The first script makes its own entries known; those of the others are made known here.
for (const script of scripts.slice(1)) product.provide(product[script.replace(".js", "").toUpperCase()]);

const MAX_BRANCHES = 4096;

class BranchingDraws {
  identity = () => "0".repeat(32);
  taken = [];
  choices = [];
  bounds = [];
  part = 1n;
  whole = 1n;

  constructor(script) {
    this.script = script;
  }

  below(bound) {
    if (!Number.isInteger(bound) || bound < 1 || bound > MAX_BRANCHES) throw new RangeError();
    return this.#branch(bound, bound, (index) => [index, 1]);
  }

  pick(weights) {
    const sum = weights.reduce((total, weight) => total + weight, 0);
    const whole = weights.every((weight) => Number.isSafeInteger(weight) && weight >= 0);
    if (!whole || sum < 1 || sum > 2 ** 32 || weights.length > MAX_BRANCHES) throw new RangeError();
    const live = [...weights.keys()].filter((index) => weights[index]);
    return this.#branch(sum, live.length, (choice) => [live[choice], weights[live[choice]]]);
  }

  #branch(bound, choices, way) {
    const step = this.taken.length;
    const choice = step < this.script.length ? this.script[step] : 0;
    this.taken.push(choice);
    this.choices.push(choices);
    if (bound > 1) this.bounds.push(bound);
    const [index, weight] = way(choice);
    this.part *= BigInt(weight);
    this.whole *= BigInt(bound);
    return index;
  }
}

// Notes whether anything was drawn.
class WatchedDraws {
  touched = false;
  #draw(drawn) {
    this.touched = true;
    return drawn;
  }
  identity = () => this.#draw("0".repeat(32));
  below = () => this.#draw(0);
  pick = () => this.#draw(0);
}

async function lawOf(run, most) {
  const law = new Map();
  const bounds = new Set();
  let script = [];
  for (let count = 0; ; count += 1) {
    if (count >= most) throw new RangeError();
    const draws = new BranchingDraws(script);
    const reported = await run(draws);
    const [part, whole] = law.get(reported) ?? [0n, 1n];
    const sum = part * draws.whole + draws.part * whole;
    const divisor = gcd(sum, whole * draws.whole);
    law.set(reported, [sum / divisor, (whole * draws.whole) / divisor]);
    bounds.add(JSON.stringify(draws.bounds));
    script = draws.taken;
    while (script.length && script.at(-1) + 1 === draws.choices[script.length - 1]) script.pop();
    if (script.length === 0) break;
    script[script.length - 1] += 1;
  }
  const written = [...law].map(([reported, [part, whole]]) => [reported, `${part}/${whole}`]);
  return { law: Object.fromEntries(written), bounds: [...bounds].map((text) => JSON.parse(text)) };
}

const gcd = (m, n) => (n === 0n ? m : gcd(n, m % n));

function questionOf(document) {
  const alone = {
    access: "open",
    default_language: "en",
    format: "sottovoce-survey/1",
    name: "audit",
    privacy: { procedure: "device", release_batch: 25 },
    questions: [document],
    retention: { ids_days: 30 },
    revision: 1,
    title: { en: "Audit" },
  };
  return product.parseSurvey(alone, "").questions[0];
}

async function lawsOf({ question, inputs, most }) {
  try {
    const { mechanism } = questionOf(question);
    const randomize = product.RANDOMIZERS.get(mechanism.name);
    return await inOrder(inputs, (value) => lawOf((draws) => whole(randomize(mechanism, value, draws)), most));
  } catch {
    return null;
  }
}

function whole(reported) {
  if (!Number.isSafeInteger(reported)) throw new RangeError();
  return reported;
}

async function inOrder(items, work) {
  const results = [];
  for (const item of items) results.push(await work(item));
  return results;
}

// The law of the set that is drawn where not all questions are asked.
async function setOf(text) {
  try {
    const partly = await product.loadSurvey(new TextEncoder().encode(text));
    return await lawOf((draws) => JSON.stringify(product.drawAsked(partly, draws)), most);
  } catch {
    return null;
  }
}

// What one device remembers.
class MemoryLedger {
  entries = new Map();
  get = async (key) => this.entries.get(JSON.stringify(key)) ?? null;
  record = async (key, entry) => {
    if (!this.entries.has(JSON.stringify(key))) this.entries.set(JSON.stringify(key), entry);
    return this.get(key);
  };
  prepare = async (key, digest, drawn) => (await this.record([...key, digest], { drawn, epsilon: 0 })).drawn;
  markSent = async () => {};
}

// The laws of all reports of one device, a respondent for each wave and one ledger for all, by truth.
async function livesOf({ survey: text, answers }) {
  try {
    const lived = await product.loadSurvey(new TextEncoder().encode(text));
    return await inOrder(answers, (course) => lawOf((draws) => live(lived, course, draws), most));
  } catch {
    return null;
  }
}

async function live(lived, course, draws) {
  const ledger = new MemoryLedger();
  const reports = [];
  const submit = async (_, body) => {
    const { wave, values } = JSON.parse(body);
    reports.push([wave, values]);
    return product.expectedReceipt(body);
  };
  const allowance = { question: Infinity, total: Infinity };
  const atOnce = (work) => work();
  for (const [wave, given] of course.entries()) {
    const transport = { origin: "https://audit.invalid", submit };
    const person = new product.Respondent(lived, transport, ledger, { draws, allowance, wave });
    await person.asked();
    await new product.AnswerPath(person, atOnce).answer(given);
  }
  return JSON.stringify(reports);
}

function procedureOf({ question }) {
  try {
    return product.procedure(questionOf(question).mechanism);
  } catch {
    return null;
  }
}

const asked = await product.loadSurvey(new TextEncoder().encode(survey));
const WRONG = [NaN, Infinity, undefined];
const notNumbers = possible.flatMap((given, index) => WRONG.map((value) => given.with(index, value)));

// Whether values are refused before anything was drawn; null if they are not refused.
function isRefused(values) {
  const draws = new WatchedDraws();
  try {
    product.randomize(asked, values, draws);
  } catch {
    return !draws.touched;
  }
  return null;
}

const found = {
  laws: await inOrder(questions, lawsOf),
  procedures: questions.map(procedureOf),
  accepted: possible.map((values) => isRefused(values) === null),
  refused: [...outside, ...notNumbers].map(isRefused),
  set: set === null ? null : await setOf(set),
  lives: await inOrder(lives, livesOf),
};
process.stdout.write(JSON.stringify(found));
