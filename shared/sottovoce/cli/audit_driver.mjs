// Runs the randomizers of the script beside this file through all of their branches and prints their exact laws.
// In: [{ question, inputs, most }]; out, for each, a list of { law: { reported: "part/whole" }, bounds: [[..]] } by input.
import { readFileSync } from "node:fs";

import * as product from "./respondent.js";

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
  const survey = {
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
  return product.parseSurvey(survey, "").questions[0];
}

function lawsOf({ question, inputs, most }) {
  try {
    const { mechanism } = questionOf(question);
    const randomize = product.RANDOMIZERS.get(mechanism.name);
    return inputs.map((value) => lawOf((draws) => randomize(mechanism, value, draws), most));
  } catch {
    // Told as a failure by whoever reads this; the reason could repeat a value.
    return null;
  }
}

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf-8")).map(lawsOf)));
