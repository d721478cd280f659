// A browser, its person and its aggregator: what one event does to them, along one way of the coins. The twin of
// device_world.py. The scripts are the running ones; only what lies under them is made up.
import { Aggregator } from "./javascript_aggregator.mjs";
import { Databases } from "./javascript_database.mjs";
import { Device, enter } from "./javascript_device.mjs";
import { ORIGIN } from "./javascript_site.mjs";

const later = globalThis.setImmediate;
const ANY_PRICE = { question: Infinity, total: Infinity };
const TOKENS = ["1".repeat(16), "2".repeat(16)];
// The clock jumps by 400 days, in the periods of `Device`.
const JUMP = Math.round((400 * 86_400_000) / 3500);
// Of whatever goes on; what has not ended by then never will.
const MOST_TURNS = 5000;

/** A device whose browser may be killed: `step()` is called before each change on the disk, request and reply. */
class MortalDevice extends Device {
  isTimed = false;
  #under = 0;
  #timers = new Set();

  constructor(aggregator, step, shift) {
    super(Buffer.alloc(0), (request) => aggregator.answer(request), shift);
    Object.assign(this, { aggregator, step, databases: new Databases(() => {}, step) });
  }

  now() {
    this.isTimed = true;
    return super.now();
  }

  get isQuiet() {
    return !this.databases.isBusy && this.#under === 0 && this.#timers.size === 0;
  }

  // Nobody reads what happened in between.
  tell() {}
  tellRequest() {}

  wait(work, milliseconds, rest) {
    const ring = (...given) => {
      this.#timers.delete(timer);
      work(...given);
    };
    const timer = super.wait(ring, milliseconds, rest);
    this.#timers.add(timer);
    return timer;
  }

  forgetTimer(timer) {
    this.#timers.delete(timer);
    super.forgetTimer(timer);
  }

  async fetch(resource, options = {}) {
    const request = requestOf(resource, options);
    const isSend = (options.method ?? "GET") !== "GET";
    if (isSend) this.step();
    this.aggregator.left(request);
    this.#under += 1;
    const reply = await super.fetch(resource, options).finally(() => (this.#under -= 1));
    if (isSend) this.step();
    this.aggregator.reached(request, reply.status);
    return reply;
  }
}

function requestOf(resource, { headers = {}, body = "" }) {
  return { address: String(resource?.url ?? resource), headers: Object.entries(headers), body };
}

// Of whatever is done to what it stands before, the world hears.
class Looks {
  constructor(world) {
    this.world = world;
  }
}
for (const name of Object.getOwnPropertyNames(Reflect)) {
  Looks.prototype[name] = function (...given) {
    this.world.isLooked = true;
    return Reflect[name](...given);
  };
}

class World {
  kills = [];
  isLooked = false;
  // Where reports are drawn for ids that were signed, with their values.
  isDrawnWithValues = false;

  constructor(product, scenario, order, draws) {
    const { versions, answers } = scenario;
    const texts = order.revised ? [...versions].reverse() : versions.slice(0, 1);
    Object.assign(this, { product, versions, draws, token: order.token, given: answers[order.truth] });
    this.aggregator = new Aggregator(texts, order.stored, order.spent);
    const step = order.event === ANSWERED ? () => this.kills.push(this.happened(true)) : () => {};
    this.device = new MortalDevice(this.aggregator, step, order.event === CLOCK ? JUMP : 0);
    this.device.databases.restore(order.files);
    this.names = order.names;
    draws.identity = () => this.#identity();
    // What an id is blinded with: uniform, and so another subject than what is followed here.
    draws.exactly = (count) => new Uint8Array(count).fill(1);
    const pick = draws.pick.bind(draws);
    draws.pick = (weights) => ((this.isDrawn ||= this.isDrawnWithValues), pick(weights));
  }

  // Ids are numbers: no two alike in one course. With its id a report is drawn.
  #identity() {
    this.isDrawn = true;
    this.names += 1;
    return this.names.toString(16).padStart(32, "0");
  }

  /** The person's answers, which know whether they were looked at, in whatever way. */
  get answers() {
    return new Proxy({ ...this.given }, new Looks(this));
  }

  /** What there is now; after a kill it would be the same. */
  happened(killed = false) {
    const { stored, spent, texts, wire } = this.aggregator;
    const held = { files: this.device.databases.dump(), stored: [...stored].sort(), spent: [...spent].sort() };
    return { ...held, revised: texts.length > 1, token: this.token, wire: [...wire], killed };
  }

  get wanted() {
    return this.wantedFor(this.token, 0);
  }

  wantedFor(token, wave) {
    return [ORIGIN, this.aggregator.name, wave, TOKENS[token]];
  }

  /** The person's link in a new tab, up to the questions; also where it has been open since before any answer. */
  async open(wave = 0, stalling = (ledger) => ledger) {
    const { aggregator, draws, product, token } = this;
    product.checkDevice();
    aggregator.link = TOKENS[token];
    const [ledger, transport] = [stalling(await product.BrowserLedger.open()), new product.Transport(ORIGIN)];
    const link = { origin: ORIGIN, survey: aggregator.name, digest: aggregator.digest.slice(0, 32), wave };
    const options = { allowance: ANY_PRICE, draws };
    const named = { ...link, token: TOKENS[token] };
    const me = await product.Respondent.connect(named, transport, ledger, options);
    await me.drawn();
    aggregator.wire.push(["asked", `${token} ${wave}`, JSON.stringify(await me.asked())]);
    return me;
  }

  /** The link in a new tab where something was drawn for it, as the form does it; null if nothing was. */
  async reopen(wanted = this.wanted) {
    const { product } = this;
    const [ledger, transport] = [await product.BrowserLedger.open(), new product.Transport(ORIGIN)];
    const key = await ledger.find(wanted);
    this.aggregator.link = wanted[3];
    return key && new product.Respondent(null, transport, ledger, { key });
  }

  /** The last press of the button; a report drawn with the other link is the person's. */
  async answer(me) {
    if (me.survey.isBlind && (await me.drawn()) === null) await this.product.redeem(me);
    const path = new this.product.AnswerPath(me);
    try {
      await path.answer(this.answers);
    } catch (error) {
      if (!error.elsewhere) throw error;
      const entry = await me.ledger.rebind(error.elsewhere, me.key);
      await resume(path, entry, true);
    }
  }
}

// What lies on the device is shown, or sent; what was refused only if somebody asks for it.
async function resume(path, entry, isAskedFor = false) {
  if (entry.ended || entry.sent) return;
  if (isAskedFor || !entry.refused) await path.send();
}

async function answer(world) {
  await world.answer(await world.open());
}

async function openAgain(world) {
  const me = await world.reopen();
  if (me === null) return void (await world.open());
  await resume(new world.product.AnswerPath(me), await me.drawn()).catch(() => {});
  await world.product.sendWaiting(me.ledger, me.transport, me.key);
}

// The second tab answers, and hears of no receipt, while the first has drawn its report and not yet recorded it: no
// other moment is as bad.
async function answerInTwoTabs(world) {
  const quick = await world.open();
  let overtaking = null;
  const overtake = () => (overtaking ??= withoutReply(world, () => world.answer(quick)).catch(() => {}));
  const slow = await world.open(0, (ledger) => stallingLedger(ledger, () => world.isDrawn && overtake()));
  await world.answer(slow).catch(() => {});
  await overtake();
}

// The same, where the id is signed and the values are drawn.
async function drawInTwoTabs(world) {
  await world.product.redeem(await world.open()).catch(() => {});
  world.isDrawnWithValues = true;
  world.isDrawn = false;
  await answerInTwoTabs(world);
}

async function answerMarred(world) {
  world.aggregator.isMarring = true;
  await answer(world);
}

async function answerBusy(world) {
  world.aggregator.isBusy = true;
  await answer(world).catch(() => {});
  world.aggregator.isBusy = false;
  await answer(world);
}

// A tab that stands still before it comes to its ledger: `first()` comes before.
function stallingLedger(ledger, first) {
  const stalled = (method) => async (...given) => {
    await first();
    return ledger[method](...given);
  };
  return new Proxy({}, { get: (_, name) => (typeof ledger[name] === "function" ? stalled(name) : undefined) });
}

async function answerCorrected(world) {
  world.aggregator.texts = [...world.versions].reverse();
  await answer(world);
}

async function answerLastWave(world) {
  const { waves } = await world.product.loadSurvey(new TextEncoder().encode(world.versions[0]));
  await world.answer(await world.open(waves - 1));
}

async function withdraw(world) {
  const me = await world.reopen();
  if (typeof (await me?.drawn())?.body !== "string") return;
  await new world.product.AnswerPath(me).withdraw();
  world.aggregator.wire.push(["ended", "", ""]);
}

// With every link that the person has.
async function forget(world) {
  const places = [0, 1].flatMap((token) => [0, 1].map((wave) => world.wantedFor(token, wave)));
  for (const place of places) {
    const me = await world.reopen(place);
    if (me !== null) await new world.product.AnswerPath(me).forget();
  }
  world.aggregator.wire.push(["ended", "", ""]);
}

// The first half: the second is nothing but an answer.
async function answerBeforeRefusal(world) {
  world.aggregator.isRefusing = true;
  await answer(world).catch(() => {});
  world.aggregator.isRefusing = false;
  world.token = 1;
}

async function answerOffline(world) {
  const me = await world.open();
  await withoutReply(world, () => world.answer(me));
}

// What leaves the device may arrive or not; nobody here knows.
async function withoutReply(world, work) {
  world.aggregator.isUnreachable = true;
  world.device.isOnline = false;
  await work().finally(() => {
    world.aggregator.isUnreachable = false;
    world.device.isOnline = true;
  });
}

const CLOCK = "answered while the clock is wrong by a year";
const ANSWERED = "answered";
const EVENTS = {
  [ANSWERED]: answer,
  "opened again": openAgain,
  "answered in two tabs": answerInTwoTabs,
  "answered the corrected version": answerCorrected,
  "answered the last wave": answerLastWave,
  "withdrawn": withdraw,
  "forgotten": forget,
  "refused, then answered with another link": answerBeforeRefusal,
  "answered without network": answerOffline,
  [CLOCK]: answer,
  "answered where what is signed is no signature": answerMarred,
  "redeemed, then answered in two tabs": drawInTwoTabs,
  "answered where nothing is signed at first": answerBusy,
};

/**
 * What one event makes of a state: [what happened, what a kill before each step of an answer would have left, whether
 * the answers, and the clock, were looked at]. What happened: { files, stored, spent, revised, token, wire, killed }.
 */
export async function happen(product, scenario, order, draws) {
  const world = new World(product, scenario, order, draws);
  enter(world.device);
  await untilQuiet(world.device, EVENTS[order.event](world));
  return [world.happened(), world.kills, world.isLooked, world.device.isTimed];
}

/** What the ledger says is spent, with these files. */
export async function charged(product, files) {
  const device = new MortalDevice(new Aggregator([], [], []), () => {}, 0);
  device.databases.restore(files);
  enter(device);
  return (await product.BrowserLedger.open()).spent(ORIGIN);
}

// Until the work is over, whether or not it fails (that is told to the person), and nothing is under way any more.
function untilQuiet(device, work) {
  let isOver = false;
  let turns = 0;
  work.catch(() => {}).then(() => (isOver = true));
  return new Promise((resolve) => {
    const look = () => {
      turns += 1;
      if (turns === MOST_TURNS || (isOver && device.isQuiet)) resolve();
      else later(look);
    };
    later(look);
  });
}
