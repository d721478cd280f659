// A dishonest or failing aggregator, crashes and other tabs: whatever happens, of one person it sees one set of bytes.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { FakeIndexedDB, FakeKeyRange } from "./indexeddb.mjs";
import { product, surveyOf, vectors } from "./product.mjs";

const { AnswerPath, BrowserLedger, Respondent, Transport, dumpCanonical, expectedReceipt, sendWaiting } = product;
const HERE = "https://a.example";
const DOCUMENT = { ...surveyOf(vectors("binary_rr/randomize.json")[0].question), access: "token" };
const TOKENS = ["A", "B", "C", "D", "E"].map((letter) => letter.repeat(16));
const keyOf = (token) => [HERE, DOCUMENT.name, 0, token];

globalThis.IDBKeyRange = FakeKeyRange;
let factory;

beforeEach(() => {
  factory = new FakeIndexedDB();
});

// An aggregator that answers to reports as it is told; `seen` are their bodies and tokens.
function aggregator(answer) {
  const seen = [];
  const request = async (url, { body, headers, method }) => {
    if (method === "GET") return new Response(dumpCanonical(DOCUMENT));
    seen.push([body, headers.Authorization]);
    return answer(body, seen.length);
  };
  return { seen, transport: new Transport(HERE, request, async () => {}) };
}

const refusal = (code) => async () => Response.json({ code }, { status: 409 });
const taken = async (body) => Response.json(await expectedReceipt(body));

async function personWith(token, transport) {
  const ledger = await BrowserLedger.open(factory);
  const person = await Respondent.connect({ origin: HERE, survey: DOCUMENT.name, digest: "", token }, transport, ledger);
  return { ledger, person, path: new AnswerPath(person, (work) => work()) };
}

// What the form does with a link: look, ask whose it was, answer with what chance gives.
async function visit(token, transport, isSame = true) {
  const { ledger, path } = await personWith(token, transport);
  const [other] = await ledger.unaccepted(keyOf(token));
  if (other && isSame) await ledger.rebind(other, keyOf(token));
  return path.answer({ q: "yes" }, !isSame).catch((error) => error);
}

test("a liar who refuses every token sees one set of bytes", async () => {
  const { seen, transport } = aggregator(refusal("token_invalid"));
  for (const token of TOKENS) assert.equal((await visit(token, transport)).reason, "token_invalid");
  assert.equal(new Set(seen.map(([body]) => body)).size, 1);
  assert.deepEqual(seen.map(([, token]) => token), TOKENS.map((token) => `Bearer ${token}`));
  const { ledger } = await personWith(TOKENS[0], transport);
  assert.equal(await ledger.spent(HERE), Math.log(3));
  // The old links keep their bytes too.
  for (const token of TOKENS) assert.equal((await ledger.get(keyOf(token))).body, seen[0][0]);
});

test("a liar who fails, or gives a receipt for other bytes, sees one set of bytes", async () => {
  const lies = [
    async () => new Response("", { status: 500 }),
    async (body) => Response.json({ ...(await expectedReceipt(body)), sha256: "0".repeat(64) }),
    async () => new Response("", { status: 425 }),
    async () => { throw new TypeError("network"); },
  ];
  const { seen, transport } = aggregator((body, count) => lies[count % lies.length](body));
  for (const token of [TOKENS[0], ...TOKENS]) await visit(token, transport);
  assert.equal(new Set(seen.map(([body]) => body)).size, 1);
  const { ledger } = await personWith(TOKENS[0], transport);
  for (const token of TOKENS) {
    const { refused, sent } = await ledger.get(keyOf(token));
    assert.deepEqual([refused, sent], [undefined, false]);
  }
});

test("a survey that was answered with a personal link and then is open to all gets no second draw", async () => {
  const { seen, transport } = aggregator(taken);
  await visit(TOKENS[0], transport);
  const open = { ...DOCUMENT, access: "open" };
  const turned = new Transport(HERE, async () => new Response(dumpCanonical(open)), async () => {});
  const { ledger } = await personWith(TOKENS[0], transport);
  const { path } = await personWith("", turned);

  await assert.rejects(path.answer({ q: "no" }), { sentence: "error_personal" });
  await ledger.end(keyOf(TOKENS[0]), "forgotten");
  await assert.rejects(path.answer({ q: "no" }), { sentence: "error_personal" });
  assert.equal(await ledger.get([HERE, DOCUMENT.name, 0, ""]), null);
  assert.equal(seen.length, 1);
});

test("what may pass is no refusal, and what may not is one, with its code", async () => {
  for (const [status, refused] of [[408, undefined], [425, undefined], [429, undefined], [503, undefined], [404, "refused"]]) {
    factory = new FakeIndexedDB();
    const { transport } = aggregator(async () => new Response("", { status }));
    await visit(TOKENS[0], transport);
    const { ledger } = await personWith(TOKENS[0], transport);
    assert.equal((await ledger.get(keyOf(TOKENS[0]))).refused, refused, String(status));
  }
});

test("nothing but the receipt for these very bytes clears the mark, and it does so for every copy", async () => {
  const { transport } = aggregator(refusal("closed"));
  await visit(TOKENS[0], transport);
  await visit(TOKENS[1], transport);
  const { ledger, path } = await personWith(TOKENS[1], transport);
  const forged = aggregator(async (body) => Response.json({ ...(await expectedReceipt(body)), report_id: "0".repeat(32) }));
  await assert.rejects((await personWith(TOKENS[1], forged.transport)).path.send(), { sentence: "error_receipt" });
  assert.equal((await ledger.get(keyOf(TOKENS[1]))).refused, "closed");
  await assert.rejects(path.send(), { reason: "closed" });
  const honest = aggregator(taken);
  await (await personWith(TOKENS[1], honest.transport)).path.send();
  for (const token of TOKENS.slice(0, 2)) {
    const { refused, sent } = await ledger.get(keyOf(token));
    assert.deepEqual([refused, sent], [undefined, true]);
  }
  assert.deepEqual(await ledger.unaccepted(keyOf(TOKENS[2])), []);
});

test("a refused report is never sent by itself", async () => {
  const { seen, transport } = aggregator(refusal("closed"));
  await visit(TOKENS[0], transport);
  const { ledger } = await personWith(TOKENS[0], transport);
  await sendWaiting(ledger, transport, null);
  assert.equal(seen.length, 1);
});

test("two people with one device have a report each, and neither is asked twice", async () => {
  const { seen, transport } = aggregator(refusal("token_invalid"));
  await visit(TOKENS[0], transport);
  await visit(TOKENS[1], transport, false);
  await visit(TOKENS[0], transport);
  await visit(TOKENS[1], transport);
  assert.equal(new Set(seen.map(([body]) => body)).size, 2);
  const { ledger } = await personWith(TOKENS[0], transport);
  assert.equal(await ledger.spent(HERE), 2 * Math.log(3));
  assert.deepEqual((await ledger.unaccepted(keyOf(TOKENS[2]))).map(([, , , token]) => token), TOKENS.slice(0, 2));
});

// Two tabs with a link each, and nothing drawn before either begins: what became of the second.
async function beginBoth(transport, draw) {
  const [first, second] = await Promise.all(TOKENS.slice(0, 2).map((token) => personWith(token, transport)));
  return draw(...[first, second].map(({ path }) => () => path.answer({ q: "yes" }).catch((error) => error)));
}

test("of two links opened side by side one draws, and the other is asked whose that was", async () => {
  const { seen, transport } = aggregator(refusal("token_invalid"));
  const told = await beginBoth(transport, async (one, other) => [await one(), await other()]);
  assert.deepEqual(told.map(({ elsewhere }) => elsewhere), [undefined, keyOf(TOKENS[0])]);
  assert.equal(seen.length, 1);
  const { ledger, path } = await personWith(TOKENS[1], transport);
  assert.deepEqual([await ledger.get(keyOf(TOKENS[1])), await ledger.spent(HERE)], [null, Math.log(3)]);
  // Whoever says that it was somebody else has an answer of their own.
  await path.answer({ q: "no" }, true).catch(() => {});
  assert.equal(new Set(seen.map(([body]) => body)).size, 2);
});

test("two links answered at the same moment are one draw", async () => {
  const { seen, transport } = aggregator(refusal("token_invalid"));
  const told = await beginBoth(transport, (...both) => Promise.all(both.map((answer) => answer())));
  assert.equal(told.filter(({ elsewhere }) => elsewhere).length, 1);
  assert.equal(seen.length, 1);
  const { ledger } = await personWith(TOKENS[2], transport);
  assert.equal(await ledger.spent(HERE), Math.log(3));
});

test("two tabs that say yes at once have the same copy", async () => {
  const { transport } = aggregator(refusal("token_invalid"));
  await visit(TOKENS[0], transport);
  const tabs = await Promise.all([0, 1].map(() => BrowserLedger.open(factory)));
  const copies = await Promise.all(tabs.map((tab) => tab.rebind(keyOf(TOKENS[0]), keyOf(TOKENS[1]))));
  assert.deepEqual(copies[0], copies[1]);
  assert.equal(copies[0].refused, "token_invalid");
  assert.equal(await tabs[0].spent(HERE), Math.log(3));
});

test("whoever draws in one tab while another says yes keeps what came first", async () => {
  const { transport } = aggregator(refusal("token_invalid"));
  await visit(TOKENS[0], transport);
  await visit(TOKENS[1], transport, false);
  const ledger = await BrowserLedger.open(factory);
  const own = await ledger.get(keyOf(TOKENS[1]));
  assert.deepEqual(await ledger.rebind(keyOf(TOKENS[0]), keyOf(TOKENS[1])), own);
});

test("an acknowledgement that came first outlives a refusal, and an end does too", async () => {
  const { transport } = aggregator(taken);
  await visit(TOKENS[0], transport);
  const { ledger } = await personWith(TOKENS[0], transport);
  const sent = await ledger.get(keyOf(TOKENS[0]));
  await ledger.markRefused(keyOf(TOKENS[0]), "closed");
  assert.deepEqual(await ledger.get(keyOf(TOKENS[0])), sent);
  await ledger.end(keyOf(TOKENS[0]), "forgotten");
  const ended = await ledger.get(keyOf(TOKENS[0]));
  await ledger.markRefused(keyOf(TOKENS[0]), "closed");
  assert.deepEqual(await ledger.get(keyOf(TOKENS[0])), ended);
});

// Everything that the disk holds.
const contents = async () => factory.contents("sottovoce", "reports");

test("a crash at any write of any change leaves all of it or nothing", async () => {
  const { seen, transport } = aggregator(refusal("token_invalid"));
  await visit(TOKENS[0], transport);
  const [[body]] = seen;
  const changes = [
    (ledger) => ledger.rebind(keyOf(TOKENS[0]), keyOf(TOKENS[1])),
    (ledger) => ledger.markRefused(keyOf(TOKENS[1]), "closed"),
    (ledger) => ledger.record(keyOf(TOKENS[2]), { digest: "d", epsilon: 1, body: "other", sent: false }, "text"),
    (ledger) => ledger.markSent(keyOf(TOKENS[1])),
    (ledger) => ledger.end(keyOf(TOKENS[1]), "withdrawn"),
  ];
  for (const change of changes) {
    const before = await contents();
    for (let writes = 0; ; writes += 1) {
      factory.failAfter = writes;
      const ledger = await BrowserLedger.open(factory);
      const isDone = await change(ledger).then(() => true, () => false);
      factory.failAfter = Infinity;
      if (isDone) break;
      assert.deepEqual(await contents(), before);
      assert.equal((await ledger.get(keyOf(TOKENS[0]))).body, body);
    }
    assert.notDeepEqual(await contents(), before);
  }
});

test("an end wipes every copy and the survey's text, and leaves a charge of one report", async () => {
  const { transport } = aggregator(refusal("token_invalid"));
  for (const token of TOKENS.slice(0, 3)) await visit(token, transport);
  const { ledger, person } = await personWith(TOKENS[1], transport);
  assert.equal(await ledger.surveyText(person.survey.digest), dumpCanonical(DOCUMENT));
  await ledger.end(keyOf(TOKENS[1]), "forgotten");
  for (const token of TOKENS.slice(0, 3)) {
    const { body, ended } = await ledger.get(keyOf(token));
    assert.deepEqual([body, ended], [null, "forgotten"]);
  }
  assert.equal(await ledger.surveyText(person.survey.digest), null);
  assert.equal(await ledger.spent(HERE), Math.log(3));
});

test("a survey's text stays while a report of it has a body", async () => {
  const { transport } = aggregator(refusal("token_invalid"));
  await visit(TOKENS[0], transport);
  await visit(TOKENS[1], transport, false);
  const { ledger, person } = await personWith(TOKENS[0], transport);
  await ledger.end(keyOf(TOKENS[0]), "forgotten");
  assert.equal(await ledger.surveyText(person.survey.digest), dumpCanonical(DOCUMENT));
  await ledger.end(keyOf(TOKENS[1]), "withdrawn");
  assert.equal(await ledger.surveyText(person.survey.digest), null);
});

test("what was drawn is found under the link's token, and under none", async () => {
  const ledger = await BrowserLedger.open(factory);
  assert.equal(await ledger.find(keyOf(TOKENS[0])), null);
  await ledger.record(keyOf(""), { digest: "d", epsilon: 1, body: "open", sent: false });
  assert.deepEqual(await ledger.find(keyOf(TOKENS[0])), keyOf(""));
  await ledger.record(keyOf(TOKENS[0]), { digest: "d", epsilon: 1, body: "own", sent: false });
  assert.deepEqual(await ledger.find(keyOf(TOKENS[0])), keyOf(TOKENS[0]));
  assert.equal(await ledger.find([HERE, DOCUMENT.name, 1, TOKENS[0]]), null);
});
