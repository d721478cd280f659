import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { FakeIndexedDB, FakeKeyRange } from "./indexeddb.mjs";
import { product } from "./product.mjs";

const { BrowserLedger } = product;
const HERE = "https://a.example";
const KEY = [HERE, "survey", 0, ""];
const ENTRY = { digest: "d", epsilon: 1.5, body: "first", sent: false };

globalThis.IDBKeyRange = FakeKeyRange;
let factory;
let ledger;

beforeEach(async () => {
  factory = new FakeIndexedDB();
  ledger = await BrowserLedger.open(factory);
});

// What another visit finds after the power went off at this moment.
async function afterPowerCut() {
  factory.powerCut();
  return BrowserLedger.open(factory);
}

test("the ledger gives back what was recorded, and nothing before", async () => {
  assert.equal(await ledger.get(KEY), null);
  assert.deepEqual(await ledger.record(KEY, ENTRY), ENTRY);
  assert.deepEqual(await ledger.get(KEY), ENTRY);
});

test("of two draws the first one stays, also of two tabs at once", async () => {
  const tabs = await Promise.all([1, 2, 3].map(() => BrowserLedger.open(factory)));
  const told = await Promise.all(tabs.map((tab, number) => tab.record(KEY, { ...ENTRY, body: String(number) })));
  const kept = await ledger.get(KEY);
  for (const entry of told) assert.deepEqual(entry, kept);
  assert.deepEqual(await ledger.record(KEY, { ...ENTRY, body: "second" }), kept);
  assert.deepEqual(await ledger.get(KEY), kept);
});

test("keys that differ in one part are other draws", async () => {
  await ledger.record(KEY, ENTRY);
  for (const other of [["https://b.example", "survey", 0, ""], [HERE, "s", 0, ""], [HERE, "survey", 1, ""], [HERE, "survey", 0, "T"]]) {
    assert.equal(await ledger.get(other), null);
  }
});

test("whatever the ledger has told outlives a power cut", async () => {
  await ledger.record(KEY, ENTRY);
  assert.deepEqual(await (await afterPowerCut()).get(KEY), ENTRY);
  await ledger.prepare(KEY, "d", () => [0, 2]);
  assert.deepEqual(await (await afterPowerCut()).prepare(KEY, "d", () => [1, 3]), [0, 2]);
  await ledger.markSent(KEY);
  assert.equal((await (await afterPowerCut()).get(KEY)).sent, true);
  await ledger.end(KEY, "withdrawn");
  assert.deepEqual(await (await afterPowerCut()).get(KEY), { ...ENTRY, sent: true, body: null, ended: "withdrawn" });
});

test("reports wait that are drawn for this aggregator, not acknowledged and not ended", async () => {
  const keys = ["waiting", "sent", "ended", "other"].map((name) => [HERE, name, 0, ""]);
  for (const key of keys) await ledger.record(key, { ...ENTRY, body: key[1] });
  await ledger.record(["https://b.example", "waiting", 0, ""], ENTRY);
  await ledger.record([`${HERE}.evil.example`, "waiting", 0, ""], ENTRY);
  await ledger.markSent(keys[1]);
  await ledger.end(keys[2], "forgotten");
  await ledger.prepare(keys[3], "d", () => [0]);
  const found = await ledger.waiting(HERE);
  assert.deepEqual(found.map(([key]) => key), [keys[3], keys[0]]);
  assert.deepEqual(found.map(([, { body }]) => body), ["other", "waiting"]);
});

test("all draws for one aggregator are charged to it, sent or ended, and those for no other", async () => {
  await ledger.record(KEY, ENTRY);
  await ledger.record([HERE, "survey", 1, ""], ENTRY);
  await ledger.record(["https://b.example", "survey", 0, ""], ENTRY);
  await ledger.markSent(KEY);
  await ledger.end(KEY, "withdrawn");
  assert.equal(await ledger.spent(HERE), 3);
  assert.equal(await ledger.spent("https://c.example"), 0);
});

test("an ended report takes its set of questions with it, and leaves those of others", async () => {
  const next = [HERE, "survey", 1, ""];
  await ledger.prepare(KEY, "d", () => [0, 2]);
  await ledger.prepare(next, "d", () => [1, 2]);
  assert.deepEqual(await ledger.prepare(KEY, "d", () => [1, 3]), [0, 2]);
  await ledger.record(KEY, ENTRY);
  await ledger.end(KEY, "forgotten");
  assert.deepEqual(await ledger.prepare(KEY, "d", () => [1, 3]), [1, 3]);
  assert.deepEqual(await ledger.prepare(next, "d", () => [0, 3]), [1, 2]);
});

test("of two tabs that revise an entry one is told that it did", async () => {
  await ledger.record(KEY, ENTRY);
  const tabs = await Promise.all([1, 2].map(() => BrowserLedger.open(factory)));
  const told = await Promise.all(tabs.map((tab, number) => tab.revise(KEY, "first", String(number))));
  assert.deepEqual([...told].sort(), [false, true]);
  assert.equal((await ledger.get(KEY)).body, String(told.indexOf(true)));
});

test("a change to a report that is not there makes none", async () => {
  await ledger.markSent(KEY);
  await ledger.end(KEY, "forgotten");
  assert.equal(await ledger.get(KEY), null);
});

test("a ledger that cannot be used is told, and says nothing of what is there", async () => {
  const broken = new BrowserLedger({ transaction: () => assert.fail("closed") });
  for (const ask of [() => broken.get(KEY), () => broken.record(KEY, ENTRY), () => broken.waiting(HERE), () => broken.spent(HERE)]) {
    await assert.rejects(ask, { code: "budget_exhausted", sentence: "error_no_ledger" });
  }
  await assert.rejects(BrowserLedger.open(undefined), { code: "budget_exhausted", sentence: "error_no_ledger" });
  // What structured cloning refuses, the disk would refuse too.
  await assert.rejects(ledger.record(KEY, { ...ENTRY, body: () => {} }), { code: "budget_exhausted" });
  assert.equal(await ledger.get(KEY), null);
});

test("a write that fails halfway leaves nothing behind", async () => {
  await assert.rejects(ledger.record(KEY, { ...ENTRY, body: () => {} }, "the survey's text"), { code: "budget_exhausted" });
  assert.equal(await ledger.surveyText("d"), null);
  await ledger.record(KEY, ENTRY, "the survey's text");
  assert.equal(await ledger.surveyText("d"), "the survey's text");
});
