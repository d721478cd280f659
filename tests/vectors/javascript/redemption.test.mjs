// An invitation is redeemed once, for all waves, and what was signed is sent with the report: as in Python.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { FakeIndexedDB, FakeKeyRange } from "./indexeddb.mjs";
import { product, surveyOf, vectors } from "./product.mjs";

const { AnswerPath, BrowserLedger, Respondent, Transport, bytesOf, dumpCanonical, expectedReceipt, integerOf } = product;
const { blindNotes, loadSurvey, readNumber, redeem, redemptionKey, sendWaiting, spell } = product;
const HERE = "https://a.example";
const INVITATION = "0123456789ABCDEF";
// Primes, so that anybody can sign with them.
const MODULI = [1919n, 2111n].map((rest) => 2n ** 2047n + rest);
const WAVES = ["2026-01", "2026-02"].map((month) => ({ opens: `${month}-01T00:00:00Z`, closes: `${month}-28T00:00:00Z` }));
const QUESTION = surveyOf(vectors("binary_rr/randomize.json")[0].question);
const ANSWERS = { [QUESTION.questions[0].name]: "yes" };

let database;
let asked;
let reply;

globalThis.IDBKeyRange = FakeKeyRange;

beforeEach(() => {
  [database, asked, reply] = [new FakeIndexedDB(), [], honest];
});

const blindSurvey = (moduli, more = {}) => {
  const access = { blind: moduli.map((modulus) => spell(bytesOf(modulus, 256))) };
  const waves = moduli.length > 1 ? { waves: WAVES } : {};
  return loadSurvey(new TextEncoder().encode(dumpCanonical({ ...QUESTION, ...waves, ...more, access })));
};

const raised = (number, exponent, modulus) => {
  let [power, square, left] = [1n, number, exponent];
  for (; left > 0n; left /= 2n, square = (square * square) % modulus) if (left % 2n) power = (power * square) % modulus;
  return power;
};

// The inverse of the exponent modulo modulus - 1, which is even, by trying its few multiples.
const signer = (modulus) => {
  const order = modulus - 1n;
  for (let times = 1n; ; times++) if ((order * times + 1n) % 65537n === 0n) return (order * times + 1n) / 65537n;
};

const signed = (text, wave) => {
  const number = integerOf(readNumber(text));
  return spell(bytesOf(raised(number, signer(MODULI[wave]), MODULI[wave]), 256));
};

async function honest(path, body) {
  if (path !== "redeem") return Response.json(await expectedReceipt(body));
  const { blinded } = JSON.parse(body);
  return redemption(blinded.map(signed));
}

const redemption = (numbers) =>
  new Response(JSON.stringify({ format: "sottovoce-redemption/1", survey: QUESTION.name, signed: numbers }));

async function person(survey, wave = 0) {
  const request = async (url, { body, headers }) => {
    const path = url.slice(url.lastIndexOf("/") + 1);
    asked.push([path, body, headers?.Authorization]);
    return reply(path, body);
  };
  const transport = new Transport(HERE, request, async () => {});
  const ledger = await BrowserLedger.open(database);
  return new Respondent(survey, transport, ledger, { token: INVITATION, wave });
}

const path = (respondent) => new AnswerPath(respondent, (work) => work());
const onDisk = () => JSON.stringify(database.contents("sottovoce", "reports"));
const paths = () => asked.map(([name]) => name);

test("a report has the id that was signed, and later waves ask for nothing", async () => {
  const survey = await blindSurvey(MODULI);
  const me = await person(survey);
  await redeem(me);
  assert.doesNotMatch(onDisk(), /inverse|encoded|blinded/);
  const receipt = await path(me).answer(ANSWERS);
  await path(await person(survey, 1)).answer(ANSWERS);

  assert.deepEqual(paths(), ["redeem", "reports", "reports"]);
  const [[, request], [, body, permission], [, , other]] = asked;
  assert.match(permission, /^Blind [\w-]{342}$/);
  assert.notEqual(permission, other);
  assert.equal(JSON.parse(body).report_id, receipt.report_id);
  for (const secret of [receipt.report_id, permission.slice(6)]) assert.ok(!request.includes(secret));
  for (const signature of [permission, other]) assert.ok(!onDisk().includes(signature.slice(6)));
});

test("two tabs send one set of blinded ids, and one report", async () => {
  const survey = await blindSurvey(MODULI.slice(0, 1));
  const tabs = await Promise.all([person(survey), person(survey)]);
  await Promise.all(tabs.map(redeem));
  const receipts = await Promise.all(tabs.map((tab) => path(tab).answer(ANSWERS)));

  assert.equal(new Set(asked.filter(([name]) => name === "redeem").map(([, body]) => body)).size, 1);
  assert.equal(new Set(receipts.map(({ body }) => body)).size, 1);
});

test("a lost reply is asked for again with the same bytes, after a reload too", async () => {
  const survey = await blindSurvey(MODULI.slice(0, 1));
  reply = async () => new Response("", { status: 502 });
  await assert.rejects(redeem(await person(survey)));
  reply = async () => new Response("<html>");
  await assert.rejects(redeem(await person(survey)), { sentence: "error_signatures" });
  reply = honest;
  await redeem(await person(survey));
  assert.equal(new Set(asked.map(([, body]) => body)).size, 1);
});

test("a signature that is none burns the ids, and no others are drawn", async () => {
  const survey = await blindSurvey(MODULI.slice(0, 1));
  reply = async (_, body) => redemption(JSON.parse(body).blinded);
  const me = await person(survey);
  await assert.rejects(redeem(me), { sentence: "error_burnt" });
  reply = honest;
  await assert.rejects(redeem(await person(survey)), { sentence: "error_burnt" });
  await assert.rejects(path(me).answer(ANSWERS), { sentence: "error_burnt" });
  assert.deepEqual(paths(), ["redeem"]);
});

test("another key for a wave is refused with both versions, and nothing is asked for", async () => {
  const [first, other] = await Promise.all([MODULI, [MODULI[0], MODULI[1] + 2n]].map((moduli) => blindSurvey(moduli)));
  await redeem(await person(first));
  for (const survey of [other, first, other]) {
    await assert.rejects(redeem(await person(survey)), { sentence: "error_keys" });
  }
  assert.equal(asked.length, 1);
});

test("a survey with signatures is never taken for one without, and a report of it stays", async () => {
  const survey = await blindSurvey(MODULI.slice(0, 1));
  await redeem(await person(survey));
  for (const access of ["token", "open"]) {
    const plain = await loadSurvey(new TextEncoder().encode(dumpCanonical({ ...QUESTION, access })));
    const me = await person(plain);
    await assert.rejects(me.drawn(), { sentence: "error_revisions" });
    await assert.rejects(path(me).answer(ANSWERS), { sentence: "error_revisions" });
  }
  assert.deepEqual(paths(), ["redeem"]);
  const receipt = await path(await person(survey)).answer(ANSWERS);
  assert.equal((await path(await person(survey)).receipt()).body, receipt.body);
});

test("who is busy is asked for the same later, and no refusal is told", async () => {
  reply = async () => Response.json({ code: "busy" }, { status: 503 });
  const survey = await blindSurvey(MODULI.slice(0, 1));
  await assert.rejects(redeem(await person(survey)), { sentence: "error_unreachable", isFinal: false });
  reply = honest;
  await redeem(await person(survey));
  assert.equal(new Set(asked.map(([, body]) => body)).size, 1);
});

test("a signed report is not sent where another link is opened, nor beside a token, nor beside another", async (context) => {
  const privacy = { ...QUESTION.privacy, send_within_hours: 1 };
  context.mock.timers.enable({ apis: ["Date"], now: 1_770_000_000_000 });
  const surveys = await Promise.all(["one", "two"].map((name) => blindSurvey(MODULI.slice(0, 1), { name, privacy })));
  for (const survey of surveys) {
    const me = await person(survey);
    reply = async (_, body) => new Response((await redemption(JSON.parse(body).blinded.map(signed)).text()).replace('"vector"', `"${survey.name}"`));
    await redeem(me);
    await assert.rejects(path(me).answer(ANSWERS), { sentence: "later_title" });
  }
  reply = honest;
  context.mock.timers.setTime(1_770_004_000_000);
  const sent = async (own, more = {}) => {
    const { ledger, transport } = { ...(await person(surveys[0])), ...more };
    const before = asked.length;
    await sendWaiting(ledger, transport, own);
    await sendWaiting(ledger, transport, own);
    return asked.slice(before).map(([, , permission]) => permission.split(" ")[0]);
  };
  const { ledger } = await person(surveys[0]);
  const keyOf = (name, token) => [HERE, name, 0, token];
  // Where another invitation is opened, or an own link of a survey with tokens; or another wave of it.
  for (const own of [keyOf("three", INVITATION), keyOf("one", "OTHER"), [HERE, "one", 1, INVITATION]]) assert.deepEqual(await sent(own), []);

  const { body } = await ledger.get(keyOf("one", INVITATION));
  const token = { digest: "", epsilon: 1, body, sent: false };
  await ledger.record(keyOf("a", "TOKEN"), token);
  assert.deepEqual(await sent(keyOf("one", INVITATION)), []);
  assert.deepEqual(await sent(null), ["Bearer"]);
  assert.deepEqual(await sent(keyOf("open", "")), ["Blind"]);
  assert.deepEqual(await sent(null), ["Blind"]);
  assert.deepEqual(await sent(null), []);
});

test("an invitation that was used elsewhere is told in words of its own", async () => {
  reply = async () => Response.json({ code: "already_redeemed" }, { status: 409 });
  const me = await person(await blindSurvey(MODULI.slice(0, 1)));
  await assert.rejects(redeem(me), { sentence: "error_redeemed", isFinal: true });
});

test("a report waits for its moment, is withdrawn before it without a word, and is sent after it", async (context) => {
  const privacy = { ...QUESTION.privacy, send_within_hours: 24 };
  const survey = await blindSurvey(MODULI.slice(0, 1), { privacy });
  context.mock.timers.enable({ apis: ["Date"], now: 1_770_000_000_000 });
  const me = await person(survey);
  await redeem(me);
  await assert.rejects(path(me).answer(ANSWERS), { name: "Error", sentence: "later_title" });
  const { sendAt } = await me.ledger.get(me.key);
  assert.ok(sendAt >= 1_770_000_000 && sendAt <= 1_770_000_000 + 24 * 3600);
  await sendWaiting(me.ledger, me.transport, null);
  await assert.rejects(path(await person(survey)).send(), { sentence: "later_title" });
  assert.deepEqual(paths(), ["redeem"]);

  context.mock.timers.setTime(sendAt * 1000 + 1);
  await sendWaiting(me.ledger, me.transport, null);
  assert.deepEqual(paths(), ["redeem", "reports"]);
  assert.equal((await me.ledger.get(me.key)).sent, true);
});

test("an invitation never stands beside a report, not even in a second tab that sends it once more", async () => {
  const survey = await blindSurvey(MODULI.slice(0, 1));
  const [me, other] = [await person(survey), await person(survey)];
  await redeem(me);
  const receipt = await path(me).answer(ANSWERS);
  assert.deepEqual(await path(other).answer(ANSWERS), receipt);
  const sent = asked.filter(([name]) => name === "reports").map(([, , permission]) => permission);
  assert.match(sent[0], /^Blind /);
  assert.deepEqual(sent.slice(1), [undefined]);
});

test("a copy of the signature that a closed tab left is wiped before the moment", async (context) => {
  const privacy = { ...QUESTION.privacy, send_within_hours: 24 };
  context.mock.timers.enable({ apis: ["Date"], now: 1_770_000_000_000 });
  const me = await person(await blindSurvey(MODULI.slice(0, 1), { privacy }));
  await redeem(me);
  const own = redemptionKey(me.key);
  const { body } = await me.ledger.get(own);
  await assert.rejects(path(me).answer(ANSWERS), { sentence: "later_title" });
  await me.ledger.revise(own, (await me.ledger.get(own)).body, body);
  await assert.rejects(path(me).send(), { sentence: "later_title" });
  assert.deepEqual(JSON.parse((await me.ledger.get(own)).body), { waves: [null] });
});

test("what another tab sent while a part was loading is withdrawn at the aggregator", async () => {
  const privacy = { ...QUESTION.privacy, send_within_hours: 168 };
  const me = await person(await blindSurvey(MODULI.slice(0, 1), { privacy }));
  await redeem(me);
  await assert.rejects(path(me).answer(ANSWERS), { sentence: "later_title" });
  const { get } = me.ledger;
  let looks = 0;
  me.ledger.get = async (key) => {
    const entry = await get.call(me.ledger, key);
    // After the last look at the report another tab sends it.
    if (String(key) === String(me.key) && looks++ === 1) await me.ledger.markDue(key);
    return entry;
  };
  await path(me).withdraw().catch(() => {});
  assert.equal(asked.at(-1)[0], "withdraw");
});

test("what another tab withdraws at the last moment is not sent", async (context) => {
  const privacy = { ...QUESTION.privacy, send_within_hours: 1 };
  context.mock.timers.enable({ apis: ["Date"], now: 1_770_000_000_000 });
  const me = await person(await blindSurvey(MODULI.slice(0, 1), { privacy }));
  await redeem(me);
  await assert.rejects(path(me).answer(ANSWERS), { sentence: "later_title" });
  context.mock.timers.setTime(1_770_000_000_000 + 3_601_000);
  const { markDue } = me.ledger;
  me.ledger.markDue = async (key) => {
    await me.ledger.end(key, "withdrawn");
    return markDue.call(me.ledger, key);
  };
  await assert.rejects(path(me).send(), { sentence: "error_unexpected" });
  assert.deepEqual(paths(), ["redeem"]);
});

test("what was never tried is withdrawn without a word to anybody", async () => {
  const privacy = { ...QUESTION.privacy, send_within_hours: 168 };
  const me = await person(await blindSurvey(MODULI.slice(0, 1), { privacy }));
  await redeem(me);
  await assert.rejects(path(me).answer(ANSWERS));
  await path(me).withdraw();
  assert.deepEqual(paths(), ["redeem"]);
  assert.equal((await me.ledger.get(me.key)).ended, "withdrawn");
  assert.ok(!("signature" in (await me.ledger.get(me.key))));
});

test("forgetting wipes what the invitation was redeemed for", async () => {
  const me = await person(await blindSurvey(MODULI));
  await redeem(me);
  await path(me).answer(ANSWERS);
  await path(me).forget();
  assert.equal((await me.ledger.get(redemptionKey(me.key))).body, null);
});

test("a survey must name one key for each wave, of a size that is agreed, each another", async () => {
  const texts = MODULI.map((modulus) => spell(bytesOf(modulus, 256)));
  const even = spell(bytesOf(MODULI[0] - 1n, 256));
  const bad = [null, {}, [], { blind: [] }, { blind: texts }, { blind: [even] }, { blind: [`${texts[0]}A`] }, "blind"];
  for (const access of [...bad, { blind: [spell(bytesOf(2n ** 2046n + 1n, 256))] }, { blind: [texts[0]], more: 1 }]) {
    const text = dumpCanonical({ ...QUESTION, access });
    await assert.rejects(loadSurvey(new TextEncoder().encode(text)), { code: "spec_invalid" }, text.slice(0, 60));
  }
  const twice = dumpCanonical({ ...QUESTION, waves: WAVES, access: { blind: [texts[0], texts[0]] } });
  await assert.rejects(loadSurvey(new TextEncoder().encode(twice)), { code: "spec_invalid" });
});

test("no wait is promised in the last five minutes, nor after them", async (context) => {
  const now = Date.parse("2026-02-10T12:00:00Z");
  context.mock.timers.enable({ apis: ["Date"], now });
  const words = { line: (_, sentence) => sentence, rare: new Set() };
  const notes = async (minutes, hours) => {
    const closes = `${new Date(now + minutes * 60_000).toISOString().slice(0, 19)}Z`;
    const privacy = { ...QUESTION.privacy, ...(hours && { send_within_hours: hours }) };
    return blindNotes(await blindSurvey(MODULI.slice(0, 1), { privacy, closes }), words, 0);
  };
  assert.deepEqual(await notes(60, 24), ["seen_blind", "explain_later"]);
  for (const [minutes, hours] of [[5, 24], [4, 24], [-60, 24], [60, 0]]) {
    assert.deepEqual(await notes(minutes, hours), ["seen_blind", "seen_blind_now"]);
  }
});
