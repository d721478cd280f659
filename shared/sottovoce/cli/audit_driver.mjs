// Runs what the scripts beside this file do with answers, and prints what came of it. What throws is told as null, or
// as false: the reason could repeat a value.
//
// In:   { scripts, questions: [{ question, inputs, most }], survey, ordinary, outside: [[index, value]] }
// Out:  { laws: for each question a list of { law: { reported: "part/whole" }, bounds: [[..]] } by input,
//         procedures: for each question what a person does by hand, refused: whether each value outside was refused }
import { readFileSync } from "node:fs";

const { scripts, questions, survey, ordinary, outside } = JSON.parse(readFileSync(0, "utf-8"));
const product = Object.assign({}, ...(await Promise.all(scripts.map((script) => import(`./${script}`)))));
// The first script is the one that loads the others, and makes their mechanisms known.
for (const script of scripts.slice(1)) await product.load(script.replace(".js", ""));

const MAX_BRANCHES = 4096;

class BranchingDraws {
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
    const live = weights.includes(0) ? [...weights.keys()].filter((index) => weights[index]) : weights.map((_, index) => index);
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

function lawOf(run, most) {
  const law = new Map();
  const bounds = new Set();
  let script = [];
  for (let count = 0; ; count += 1) {
    if (count >= most) throw new RangeError();
    const draws = new BranchingDraws(script);
    const reported = run(draws);
    if (!Number.isSafeInteger(reported)) throw new RangeError();
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

function lawsOf({ question, inputs, most }) {
  try {
    const { mechanism } = questionOf(question);
    const randomize = product.RANDOMIZERS.get(mechanism.name);
    return inputs.map((value) => lawOf((draws) => randomize(mechanism, value, draws), most));
  } catch {
    return null;
  }
}

function procedureOf({ question }) {
  try {
    return product.procedure(questionOf(question).mechanism);
  } catch {
    return null;
  }
}

const asked = await product.loadSurvey(new TextEncoder().encode(survey));
const notNumbers = asked.questions.flatMap((_, index) => [NaN, Infinity, undefined].map((value) => [index, value]));

function isRefused([index, value]) {
  const draws = new WatchedDraws();
  try {
    product.randomize(asked, ordinary.with(index, value), draws);
  } catch {
    return !draws.touched;
  }
  return false;
}

const found = {
  laws: questions.map(lawsOf),
  procedures: questions.map(procedureOf),
  refused: [...outside, ...notNumbers].map(isRefused),
};
process.stdout.write(JSON.stringify(found));
