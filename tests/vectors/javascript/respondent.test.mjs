import assert from "node:assert/strict";
import { test } from "node:test";

import { product, surveyOf, vectors } from "./product.mjs";

const { AnswerPath, Draws, Respondent, Transport, dumpCanonical, expectedReceipt, parseLink, secondsToWait } = product;
const coin = vectors("binary_rr/randomize.json")[0].question;

class MemoryLedger {
  entries = new Map();
  get = async (key) => this.entries.get(String(key)) ?? null;
  record = async (key, entry) => {
    if (!this.entries.has(String(key))) this.entries.set(String(key), entry);
    return this.get(key);
  };
  prepare = async (key, digest, draw) => {
    const own = [...key, digest];
    return ((await this.get(own)) ?? (await this.record(own, { drawn: draw(), epsilon: 0 }))).drawn;
  };
  markSent = async (key) => this.#change(key, { sent: true });
  end = async (key, ended) => this.#change(key, { body: null, ended });
  // Nothing of these waits for a moment.
  endUntried = async () => false;
  spent = async () => [...this.entries.values()].reduce((total, entry) => total + entry.epsilon, 0);
  surveyText = async () => null;
  unaccepted = async () => [];
  markRefused = async (key, refused) => this.#change(key, { refused });
  #change(key, changes) {
    const entry = this.entries.get(String(key));
    if (entry !== undefined) this.entries.set(String(key), { ...entry, ...changes });
  }
}

// An aggregator in memory: remembers bodies; fails as often as it is told.
function aggregator(document, failures = []) {
  const bodies = [];
  const request = async (url, options) => {
    if (url.endsWith("/revisions")) return new Response("", { status: 404 });
    if (options.method === "GET") return new Response(dumpCanonical(document));
    bodies.push(options.body);
    const failure = failures.shift();
    if (failure === "unreachable") throw new TypeError("network");
    if (failure) return failure;
    if (url.endsWith("/withdraw")) {
      const { report_id } = JSON.parse(options.body);
      return Response.json({ format: "sottovoce-withdrawal/1", report_id, survey: document.name });
    }
    return Response.json(await expectedReceipt(options.body));
  };
  return { bodies, transport: new Transport("https://a.example", request, async () => {}) };
}

const atOnce = (work) => work();
const pathOf = (person) => new AnswerPath(person, atOnce);
const connect = (document, transport, ledger, digest = "", options = {}) => {
  const link = { origin: "https://a.example", survey: document.name, digest };
  return Respondent.connect(link, transport, ledger, options);
};

test("a second answer sends the bytes of the first", async () => {
  const { bodies, transport } = aggregator(surveyOf(coin));
  const ledger = new MemoryLedger();
  for (const q of ["yes", "no", "yes"]) await pathOf(await connect(surveyOf(coin), transport, ledger)).answer({ q });
  assert.equal(bodies.length, 3);
  assert.equal(new Set(bodies).size, 1);
});

test("a report is in the ledger before it is sent, and retries send the same bytes", async () => {
  const failures = ["unreachable", new Response("", { status: 503 }), new Response("", { status: 429 })];
  const { bodies, transport } = aggregator(surveyOf(coin), failures);
  const ledger = new MemoryLedger();
  const receipt = await pathOf(await connect(surveyOf(coin), transport, ledger)).answer({ q: "yes" });
  assert.deepEqual(bodies, Array(4).fill(receipt.body));
  assert.deepEqual([...ledger.entries.values()].map((entry) => [entry.body, entry.sent]), [[receipt.body, true]]);
});

test("a refusal is final and leaves the report to be sent later", async () => {
  const refusal = Response.json({ code: "closed" }, { status: 409 });
  const { bodies, transport } = aggregator(surveyOf(coin), [refusal]);
  const ledger = new MemoryLedger();
  const person = await connect(surveyOf(coin), transport, ledger);
  await assert.rejects(pathOf(person).answer({ q: "yes" }), { code: "transport", reason: "closed", status: 409 });
  assert.equal((await person.drawn()).sent, false);
  assert.equal((await pathOf(person).send()).body, bodies[0]);
});

test("under ask, one set of questions is drawn before anything is asked, and kept", async () => {
  const questions = Array.from({ length: 6 }, (_, index) => ({ ...coin, name: `q${index}` }));
  const document = { ...surveyOf(coin), ask: 3, questions };
  const { bodies, transport } = aggregator(document);
  const ledger = new MemoryLedger();
  const open = async () => connect(document, transport, ledger);
  const people = await Promise.all([open(), open()]);
  const sets = [];
  for (const person of [...people, await open()]) sets.push(await person.asked());
  assert.equal(new Set(sets.map(String)).size, 1);
  await pathOf(people[0]).answer(Object.fromEntries(sets[0].map((index) => [`q${index}`, "yes"])));
  const { values } = JSON.parse(bodies[0]);
  assert.deepEqual([...values.keys()].filter((index) => values[index] !== null), sets[0]);
});

test("a set that is kept is not drawn again", async () => {
  const questions = Array.from({ length: 6 }, (_, index) => ({ ...coin, name: `q${index}` }));
  const document = { ...surveyOf(coin), ask: 3, questions };
  const { transport } = aggregator(document);
  const [ledger, draws] = [new MemoryLedger(), new Draws()];
  const first = await (await connect(document, transport, ledger)).asked();
  draws.below = () => assert.fail("drawn again");
  assert.deepEqual(await (await connect(document, transport, ledger, "", { draws })).asked(), first);
});

test("links of several versions that ask the same questions give no choice between sets of them", async () => {
  const ledger = new MemoryLedger();
  const sets = new Set();
  for (const revision of [1, 2, 3, 4, 5, 6]) {
    const coins = Array.from({ length: 12 }, (_, index) => ({ ...coin, name: `q${index}` }));
    const questions = revision % 2 ? coins : coins.reverse();
    const document = { ...surveyOf(coin), ask: 6, questions, revision };
    const { transport } = aggregator(document);
    const person = await connect(document, transport, ledger);
    const asked = await person.asked();
    sets.add(String(asked.map((index) => person.survey.questions[index].name).sort()));
  }
  assert.equal(sets.size, 1);
});

test("another version of the survey buys no second draw: the report of the first is what is sent", async () => {
  const ledger = new MemoryLedger();
  const first = await pathOf(await connect(surveyOf(coin), aggregator(surveyOf(coin)).transport, ledger)).answer({ q: "yes" });
  const revised = { ...surveyOf(coin), revision: 2 };
  const { bodies, transport } = aggregator(revised);
  const silent = new Draws(() => assert.fail("a byte was read"));
  const person = await connect(revised, transport, ledger, "", { draws: silent });
  assert.equal((await person.drawn()).digest, first.digest);
  assert.notEqual(person.survey.digest, first.digest);
  assert.equal((await pathOf(person).answer({ q: "no" })).body, first.body);
  assert.deepEqual(bodies, [first.body]);
});

test("a wave that the survey does not have is refused, and each wave has its own report", async () => {
  const days = [1, 2, 3].map((day) => `2026-01-0${day}T00:00:00Z`);
  const document = { ...surveyOf(coin), waves: [{ opens: days[0], closes: days[1] }, { opens: days[1], closes: days[2] }] };
  const { bodies, transport } = aggregator(document);
  const ledger = new MemoryLedger();
  for (const wave of [2, -1, NaN, "x"]) {
    await assert.rejects(connect(document, transport, ledger, "", { wave }), { code: "transport" });
  }
  for (const wave of [0, 1, 1]) await pathOf(await connect(document, transport, ledger, "", { wave })).answer({ q: "yes" });
  assert.deepEqual(bodies.map((body) => JSON.parse(body).wave), [0, 1, 1]);
  assert.equal(new Set(bodies).size, 2);
});

test("a memo is drawn and charged once, and every wave's report makes use of it", async () => {
  const [{ question: memoized }] = vectors("memoized_rr/randomize.json");
  const months = [1, 2, 3, 4, 5].map((month) => `2026-0${month}-01T00:00:00Z`);
  const waves = [0, 1, 2, 3].map((index) => ({ opens: months[index], closes: months[index + 1] }));
  const document = { ...surveyOf(memoized), questions: [memoized, { ...coin, name: "coin" }], waves };
  const { bodies, transport } = aggregator(document);
  const ledger = new MemoryLedger();
  for (const wave of [1, 0, 3, 2, 2]) {
    await pathOf(await connect(document, transport, ledger, "", { wave })).answer({ q: "yes", coin: "no" });
  }
  assert.equal(new Set(bodies).size, 4);
  const memos = [...ledger.entries.values()].filter((entry) => !/report/.test(entry.body));
  assert.equal(memos.length, 1);
  assert.match(memos[0].body, /^\{"q":\{"answers":"[01]{2}","layer":\[3,4,1,4\],"waves":\[\d+,\d+,\d+,\d+,4\]\}\}$/);
  assert.ok(Math.abs((await ledger.spent()) - (Math.log(196 / 27) + 4 * Math.log(3))) < 1e-12);
});

test("another survey than the link's is refused", async () => {
  const { transport } = aggregator(surveyOf(coin));
  await assert.rejects(connect(surveyOf(coin), transport, new MemoryLedger(), "0".repeat(32)), { code: "transport" });
  await assert.rejects(connect({ name: "other" }, transport, new MemoryLedger()), { code: "transport" });
});

test("a survey that asks for more epsilon than allowed is refused", async () => {
  const weak = { ...coin, mechanism: { name: "binary_rr", a: "99/100", b: "1/100" } };
  const many = { ...surveyOf(coin), questions: Array.from({ length: 8 }, (_, i) => ({ ...coin, name: `q${i}` })) };
  for (const document of [surveyOf(weak), many]) {
    const { transport } = aggregator(document);
    await assert.rejects(connect(document, transport, new MemoryLedger()), { code: "budget_exhausted" });
  }
});

test("a survey that costs exactly what is allowed is answered, and a limit that is no number allows nothing", async () => {
  const document = { ...surveyOf(coin), questions: [coin, { ...coin, name: "other" }] };
  const cost = Math.log(3);
  const open = (allowance) => connect(document, aggregator(document).transport, new MemoryLedger(), "", { allowance });
  const person = await open({ question: cost, total: 2 * cost });
  assert.equal(person.survey.epsilon, 2 * cost);
  for (const less of [{ question: cost - 1e-9 }, { total: 2 * cost - 1e-9 }, { question: NaN }, { total: NaN }, { total: undefined }]) {
    await assert.rejects(open({ question: cost, total: 2 * cost, ...less }), { code: "budget_exhausted" });
  }
});

test("on a survey that is open to all a token is ignored, and buys no second draw", async () => {
  const { bodies, transport } = aggregator(surveyOf(coin));
  const ledger = new MemoryLedger();
  for (const token of ["0123456789ABCDEF", "", "FEDCBA9876543210"]) {
    const link = { origin: "https://a.example", survey: "vector", digest: "", token };
    await pathOf(await Respondent.connect(link, transport, ledger)).answer({ q: "yes" });
  }
  assert.equal(new Set(bodies).size, 1);
  assert.equal(ledger.entries.size, 1);
});

test("where each invitation has its token, each is a draw of its own, and none is refused", async () => {
  const document = { ...surveyOf(coin), access: "token" };
  const { bodies, transport } = aggregator(document);
  const ledger = new MemoryLedger();
  const open = (token) => Respondent.connect({ origin: "https://a.example", survey: "vector", digest: "", token }, transport, ledger);
  for (const token of ["0123456789ABCDEF", "FEDCBA9876543210"]) await pathOf(await open(token)).answer({ q: "yes" });
  assert.equal(new Set(bodies).size, 2);
  await assert.rejects(open(""), { code: "transport", sentence: "error_token" });
});

test("nothing is sent until the ledger holds the report, and nothing if it cannot", async () => {
  const ledger = new MemoryLedger();
  const { bodies, transport } = aggregator(surveyOf(coin));
  const record = ledger.record;
  ledger.record = async (key, entry) => {
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(bodies.length, 0);
    return record(key, entry);
  };
  const { body } = await pathOf(await connect(surveyOf(coin), transport, ledger)).answer({ q: "yes" });
  assert.deepEqual(bodies, [body]);
  const full = new MemoryLedger();
  full.record = async () => assert.fail("the disk is full");
  await assert.rejects(pathOf(await connect(surveyOf(coin), transport, full)).answer({ q: "yes" }), /the disk is full/);
  assert.equal(bodies.length, 1);
});

test("a link that pins the survey is compared to its last digit", async () => {
  const document = surveyOf(coin);
  const { digest } = (await connect(document, aggregator(document).transport, new MemoryLedger())).survey;
  const pinned = digest.slice(0, 32);
  const wrong = pinned.slice(0, 31) + (pinned[31] === "0" ? "1" : "0");
  await connect(document, aggregator(document).transport, new MemoryLedger(), pinned);
  await assert.rejects(connect(document, aggregator(document).transport, new MemoryLedger(), wrong), {
    sentence: "error_other_survey",
  });
});

test("a memo of these answers is what every report is drawn from, whatever was drawn since", async () => {
  const [{ question: memoized }] = vectors("memoized_rr/randomize.json");
  const months = [1, 2, 3, 4, 5].map((month) => `2026-0${month}-01T00:00:00Z`);
  const waves = [0, 1, 2, 3].map((index) => ({ opens: months[index], closes: months[index + 1] }));
  const document = { ...surveyOf(memoized), waves };
  const { survey } = await connect(document, aggregator(document).transport, new MemoryLedger());
  const memos = [["01", [0, 1]], ["10", [1, 0]], ["11", [1, 1]], ["00", [0, 0]]];
  // Often enough that a memo drawn anew could not be the same each time by chance.
  for (const [body, kept] of Array.from({ length: 6 }, () => memos).flat()) {
    const ledger = new MemoryLedger();
    const key = ["https://a.example", "vector", 2, ""];
    await ledger.record(["https://a.example", "vector", -1, ""], { digest: survey.digest, epsilon: 1, body, sent: true });
    assert.deepEqual((await product.keepMemo({ draws: new Draws(), key, ledger, survey })).get(0), kept);
  }
});

test("a receipt for other bytes is not believed", async () => {
  const entries = ["null", "[]", "{}", "text"];
  for (const text of entries) {
    const { transport } = aggregator(surveyOf(coin), [new Response(text)]);
    const ledger = new MemoryLedger();
    const person = await connect(surveyOf(coin), transport, ledger);
    await assert.rejects(pathOf(person).answer({ q: "yes" }), { code: "transport" });
    assert.equal((await person.drawn()).sent, false);
  }
});

test("a missing answer draws nothing", async () => {
  const ledger = new MemoryLedger();
  const { transport } = aggregator(surveyOf(coin));
  const silent = new Draws(() => assert.fail("a byte was read"));
  const person = await connect(surveyOf(coin), transport, ledger, "", { draws: silent });
  await assert.rejects(pathOf(person).answer({}), { code: "answer_invalid" });
  assert.equal(ledger.entries.size, 0);
});

test("requests carry no credentials, referrer or cache, and follow no redirect", async () => {
  const seen = [];
  const request = async (url, options) => (seen.push([url, options]), new Response("{}"));
  const transport = new Transport("https://a.example/path", request);
  await transport.fetchSurvey("s");
  await transport.submit("s", "body");
  assert.deepEqual(seen.map(([url]) => url), [
    "https://a.example/path/api/v1/surveys/s", "https://a.example/path/api/v1/surveys/s/reports",
  ]);
  for (const [, options] of seen) {
    const { credentials, redirect, referrerPolicy, cache } = options;
    assert.deepEqual([credentials, redirect, referrerPolicy, cache], ["omit", "error", "no-referrer", "no-store"]);
  }
  assert.deepEqual(seen[1][1].headers, { "Content-Type": "application/json" });
});

test("a token goes in a header and never in the address", async () => {
  const seen = [];
  const answer = async (url, options) => (seen.push([url, options]), new Response("{}"));
  await new Transport("https://h.example", answer).submit("s", "{}", "0123456789ABCDEF");
  assert.equal(seen[0][1].headers.Authorization, "Bearer 0123456789ABCDEF");
  assert.ok(!seen[0][0].includes("0123456789ABCDEF"));
});

test("waits double, obey Retry-After up to a minute, and carry jitter", () => {
  const within = (seconds, low) => assert.ok(low <= seconds && seconds <= low * 1.5);
  const asking = (text) => new Response("", { headers: { "Retry-After": text } });
  [1, 2, 4, 8].forEach((low, attempt) => within(secondsToWait(attempt, null), low));
  within(secondsToWait(0, asking("7")), 7);
  within(secondsToWait(0, asking("9999")), 60);
  within(secondsToWait(1, asking("soon")), 2);
});

test("a link gives origin, survey, digest and token", () => {
  const d = "0e765eb6bcfb153cd18b5bb165124c5a";
  const parts = { origin: "https://h.example/p", survey: "s-1", digest: d, token: "0123456789ABCDEF", wave: 0 };
  assert.deepEqual(parseLink(`https://h.example/p/s/s-1#d=${d}&t=0123456789ABCDEF`), parts);
  assert.deepEqual(parseLink("https://h.example/p/s/s-1"), { ...parts, digest: "", token: "" });
  assert.equal(parseLink("https://h.example/p/s/s-1#w=12").wave, 12);
  const damaged = [`https://h.example/s/s#d=${d.slice(1)}`, "https://h.example/s/s#t=U123456789ABCDEF", "https://h.example/s/s#w=01"];
  for (const bad of ["https://h.example/x/s-1", "https://h.example/s/S", ...damaged]) {
    assert.throws(() => parseLink(bad), { code: "transport" });
  }
});

test("a withdrawn or forgotten report is gone from the ledger and buys no second draw", async () => {
  for (const end of ["withdraw", "forget"]) {
    const ledger = new MemoryLedger();
    const { bodies, transport } = aggregator(surveyOf(coin));
    const person = await connect(surveyOf(coin), transport, ledger);
    const { report_id } = await pathOf(person).answer({ q: "yes" });
    await pathOf(person)[end]();
    const [entry] = ledger.entries.values();
    assert.deepEqual([entry.body, entry.ended], [null, { withdraw: "withdrawn", forget: "forgotten" }[end]]);
    assert.deepEqual(bodies.slice(1), end === "withdraw" ? [`{"report_id":"${report_id}"}`] : []);
    assert.equal(await person.spent(), Math.log(3));
    const silent = new Draws(() => assert.fail("a byte was read"));
    const again = await connect(surveyOf(coin), transport, ledger, "", { draws: silent });
    await assert.rejects(pathOf(again).answer({ q: "yes" }), { code: "budget_exhausted" });
  }
});

test("a withdrawal that is not confirmed changes nothing", async () => {
  const refusals = [Response.json({ code: "closed" }, { status: 409 }), new Response("{}"), new Response("text")];
  for (const refusal of refusals) {
    const ledger = new MemoryLedger();
    const { transport } = aggregator(surveyOf(coin), [null, refusal]);
    const person = await connect(surveyOf(coin), transport, ledger);
    const { body } = await pathOf(person).answer({ q: "yes" });
    await assert.rejects(pathOf(person).withdraw(), { code: "transport" });
    assert.equal((await person.drawn()).body, body);
  }
});

test("a withdrawal that meets a server at work is asked for again, and stays the person's to ask for", async () => {
  const busy = (times) => Array.from({ length: times }, () => Response.json({ code: "storage" }, { status: 503 }));
  const ledger = new MemoryLedger();
  const { bodies, transport } = aggregator(surveyOf(coin), [null, ...busy(5), ...busy(2)]);
  const person = await connect(surveyOf(coin), transport, ledger);
  const { body, report_id } = await pathOf(person).answer({ q: "yes" });
  const refusal = await pathOf(person).withdraw().then(assert.fail, (error) => error);
  assert.deepEqual([refusal.status, refusal.isFinal, (await person.drawn()).body], [503, false, body]);
  assert.equal(bodies.length, 1 + 5);
  await pathOf(person).withdraw();
  assert.equal([...ledger.entries.values()][0].ended, "withdrawn");
  assert.deepEqual(bodies.slice(1), Array(5 + 3).fill(`{"report_id":"${report_id}"}`));
});

// A survey of four waves with one memoized question, and the ledger of somebody who answered the first.
async function answeredOnce() {
  const [{ question: memoized }] = vectors("memoized_rr/randomize.json");
  const months = [1, 2, 3, 4, 5].map((month) => `2026-0${month}-01T00:00:00Z`);
  const document = { ...surveyOf(memoized), waves: [0, 1, 2, 3].map((index) => ({ opens: months[index], closes: months[index + 1] })) };
  const ledger = new MemoryLedger();
  const person = await connect(document, aggregator(document).transport, ledger);
  await pathOf(person).answer({ q: "yes" });
  return { document, ledger, person };
}

const memoOf = (ledger) => [...ledger.entries.values()].find(({ body }) => !/report/.test(body));

// What somebody may draw from in the next wave of this text of the survey.
async function nextMemo(revised, ledger, request) {
  const { transport } = request ? { transport: new Transport("https://a.example", request, async () => {}) } : aggregator(revised);
  const silent = new Draws(() => assert.fail("a byte was read"));
  const { survey } = await connect(revised, aggregator(revised).transport, new MemoryLedger(), "", { wave: 1 });
  return product.checkMemo({ draws: silent, key: ["https://a.example", "vector", 1, ""], ledger, survey, transport });
}

test("a correction of texts, and of the order, finds the same memo", async () => {
  const { document, ledger } = await answeredOnce();
  const [answers] = /[01]{2}/.exec(JSON.parse(memoOf(ledger).body).q.answers);
  const [memoized] = document.questions;
  const reworded = { ...document, revision: 2, questions: [{ ...coin, name: "first" }, { ...memoized, label: { en: "Else?" } }] };
  assert.deepEqual((await nextMemo(reworded, ledger)).get(1), [...answers].map(Number));
});

test("a memo of other odds, or of another question, is no reason to draw a second one", async () => {
  const { document, ledger } = await answeredOnce();
  const [memoized] = document.questions;
  const { permanent } = memoized.mechanism;
  const other = { ...memoized.mechanism, permanent: { ...permanent, a: "5/6", b: "1/6" } };
  assert.notEqual(permanent.a, other.permanent.a);
  const longer = { ...memoized.mechanism, waves: memoized.mechanism.waves + 1 };
  const others = [{ ...memoized, mechanism: other }, { ...memoized, mechanism: longer }, { ...memoized, name: "renamed" }];
  for (const question of others) {
    const revised = { ...document, revision: 2, questions: [question] };
    await assert.rejects(nextMemo(revised, ledger), { code: "budget_exhausted", sentence: "error_memo_other" });
    const { bodies, transport } = aggregator(revised);
    const person = await connect(revised, transport, ledger, "", { wave: 1 });
    await assert.rejects(pathOf(person).answer({ q: "yes", renamed: "yes" }), { code: "budget_exhausted" });
    assert.equal(bodies.length, 0);
  }
});

test("digits of an earlier release are read by the survey that they were drawn for", async () => {
  const { document, ledger, person } = await answeredOnce();
  const [memoized] = document.questions;
  memoOf(ledger).body = "01";
  assert.deepEqual((await nextMemo(document, ledger)).get(0), [0, 1]);
  const revised = { ...document, revision: 2, questions: [{ ...coin, name: "first" }, memoized] };
  const documents = { format: "sottovoce-revisions/1", revisions: [revised, document], survey: "vector" };
  const serve = async (url) => new Response(dumpCanonical(url.endsWith("/revisions") ? documents : revised));
  assert.deepEqual((await nextMemo(revised, ledger, serve)).get(1), [0, 1]);
  const gone = async () => new Response("", { status: 404 });
  await assert.rejects(nextMemo(revised, ledger, gone), { code: "budget_exhausted", sentence: "error_memo_other" });
  ledger.surveyText = async () => dumpCanonical(person.survey.document);
  assert.deepEqual((await nextMemo(revised, ledger, gone)).get(1), [0, 1]);
});

test("forgetting wipes the memo, keeps its charge and ends the waves", async () => {
  const { document, ledger, person } = await answeredOnce();
  const spent = await person.spent();
  await pathOf(person).forget();
  assert.deepEqual([...ledger.entries.values()].map(({ body, ended }) => [body, ended]), Array(2).fill([null, "forgotten"]));
  assert.equal(await person.spent(), spent);
  assert.equal((await person.drawn()).ended, "forgotten");
  const silent = new Draws(() => assert.fail("a byte was read"));
  const next = await connect(document, aggregator(document).transport, ledger, "", { wave: 1, draws: silent });
  await assert.rejects(next.drawn(), { code: "budget_exhausted", sentence: "error_memo" });
});

test("a damaged memo is no reason to draw again", async () => {
  for (const body of ["0", "02", "010", "", null, 12, "null", "[]", '{"q": 1}']) {
    const { document, ledger } = await answeredOnce();
    memoOf(ledger).body = body;
    const { bodies, transport } = aggregator(document);
    const next = await connect(document, transport, ledger, "", { wave: 1 });
    await assert.rejects(pathOf(next).answer({ q: "yes" }), { code: "budget_exhausted", sentence: "error_ledger" });
    assert.equal(bodies.length, 0);
  }
});
