// Runs parts of the browser's client through all branches of their draws, from which their exact distribution follows.
// What throws is printed as null: the reason could repeat a value.
const MAX_BRANCHES = 4096;
// As in exact_channel.py: who draws until something comes would else draw for ever.
const MAX_DRAWS = 4096;

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
    if (step === MAX_DRAWS) throw new RangeError();
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

/** Notes whether anything was drawn. */
export class WatchedDraws {
  touched = false;
  #draw(drawn) {
    this.touched = true;
    return drawn;
  }
  identity = () => this.#draw("0".repeat(32));
  below = () => this.#draw(0);
  pick = () => this.#draw(0);
}

/** The exact distribution of `run(draws)`: [reported, bounds of what was read, "part/whole"] for each pair. */
export async function distributionOf(run, most) {
  // Summed by denominators, of which there are few: to cancel each time would take longer than the draws.
  const distribution = new Map();
  let script = [];
  for (let count = 0; ; count += 1) {
    if (count >= most) throw new RangeError();
    const draws = new BranchingDraws(script);
    const outcome = JSON.stringify([await run(draws), draws.bounds]);
    if (!distribution.has(outcome)) distribution.set(outcome, new Map());
    const parts = distribution.get(outcome);
    parts.set(draws.whole, (parts.get(draws.whole) ?? 0n) + draws.part);
    script = draws.taken;
    while (script.length && script.at(-1) + 1 === draws.choices[script.length - 1]) script.pop();
    if (script.length === 0) break;
    script[script.length - 1] += 1;
  }
  return [...distribution].map(([outcome, parts]) => [...JSON.parse(outcome), summed(parts)]);
}

// "part/whole" of parts by their whole.
function summed(parts) {
  const add = ([part, whole], [other, more]) => {
    const sum = part * other + more * whole;
    const divisor = gcd(sum, whole * other);
    return [sum / divisor, (whole * other) / divisor];
  };
  return [...parts].reduce(add, [0n, 1n]).join("/");
}

const gcd = (m, n) => (n === 0n ? m : gcd(n, m % n));

function questionOf(product, document) {
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

/** The distribution of a question's randomizer for each input, or null. */
export async function distributionsOf(product, { question, inputs, most }) {
  try {
    const { mechanism } = questionOf(product, question);
    const randomize = product.RANDOMIZERS.get(mechanism.name);
    return await inOrder(inputs, (value) => distributionOf((draws) => whole(randomize(mechanism, value, draws)), most));
  } catch {
    return null;
  }
}

function whole(reported) {
  if (!Number.isSafeInteger(reported)) throw new RangeError();
  return reported;
}

/** What `work` makes of each item, one after the other. */
export async function inOrder(items, work) {
  const results = [];
  for (const item of items) results.push(await work(item));
  return results;
}

/** The distribution of the set that is drawn where not all questions are asked. */
export async function setDistributionOf(product, text, most) {
  try {
    const partly = await product.loadSurvey(new TextEncoder().encode(text));
    return await distributionOf((draws) => JSON.stringify(product.drawAsked(partly, draws)), most);
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
  prepare = async (key, digest, draw) => {
    const own = [...key, digest];
    return ((await this.get(own)) ?? (await this.record(own, { drawn: draw(), epsilon: 0 }))).drawn;
  };
  markSent = async () => {};
}

/** The distributions of all reports of one device, a respondent for each wave and one ledger for all, by truth. */
export async function historiesOf(product, { survey: text, answers }, most) {
  try {
    const panel = await product.loadSurvey(new TextEncoder().encode(text));
    const follow = (course) => distributionOf((draws) => reportsOf(product, panel, course, draws), most);
    return await inOrder(answers, follow);
  } catch {
    return null;
  }
}

async function reportsOf(product, panel, course, draws) {
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
    const person = new product.Respondent(panel, transport, ledger, { draws, allowance, wave });
    await person.asked();
    await new product.AnswerPath(person, atOnce).answer(given);
  }
  return JSON.stringify(reports);
}

/** What a person does by hand, or null. */
export function procedureOf(product, { question }) {
  try {
    return product.procedure(questionOf(product, question).mechanism);
  } catch {
    return null;
  }
}
