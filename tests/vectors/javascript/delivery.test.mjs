import assert from "node:assert/strict";
import { test } from "node:test";

import { FakeIndexedDB, FakeKeyRange } from "./indexeddb.mjs";
import { product, surveyOf, vectors } from "./product.mjs";

const { BrowserLedger, Draws, Transport, dumpCanonical, dumpReport, expectedReceipt, loadSurvey, randomize } = product;
const { sendWaiting } = product;
const HERE = "https://a.example";
const SURVEY = await loadSurvey(
  new TextEncoder().encode(dumpCanonical(surveyOf(vectors("binary_rr/randomize.json")[0].question))),
);

globalThis.IDBKeyRange = FakeKeyRange;

// A ledger in which a report waits for each of these waves; `kept` are their keys and entries as they were recorded.
async function ledgerOf(waves) {
  const ledger = await BrowserLedger.open(new FakeIndexedDB());
  const kept = waves.map((wave) => {
    const body = dumpReport(randomize(SURVEY, [1], new Draws(), wave), SURVEY);
    return [[HERE, SURVEY.name, wave, "TOKEN"], { digest: SURVEY.digest, epsilon: 1, body, sent: false }];
  });
  for (const [key, entry] of kept) await ledger.record(key, entry);
  return { kept, ledger };
}

// An aggregator that answers to each body as it is told, and by default as it should.
function aggregator(answer = async (body) => Response.json(await expectedReceipt(body))) {
  const seen = [];
  const request = async (url, { body, headers }) => {
    seen.push({ url, body, token: headers.Authorization });
    return answer(body);
  };
  return { seen, transport: new Transport(HERE, request, async () => {}) };
}

// The waves of reports that are not acknowledged, and why each of them was refused.
async function notSent({ kept, ledger }) {
  const entries = await Promise.all(kept.map(async ([key]) => [key[2], await ledger.get(key)]));
  return entries.filter(([, { sent }]) => !sent).map(([wave, { refused = "" }]) => [wave, refused]);
}

test("all reports that wait are sent, the same bytes with their token, but for the one in hand", async () => {
  const made = await ledgerOf([0, 1, 2]);
  const { seen, transport } = aggregator();
  const [own] = made.kept[1];
  await sendWaiting(made.ledger, transport, [...own]);
  assert.deepEqual(seen.map(({ body }) => body), [0, 2].map((place) => made.kept[place][1].body));
  assert.deepEqual(new Set(seen.map(({ token }) => token)), new Set(["Bearer TOKEN"]));
  assert.deepEqual(await notSent(made), [[1, ""]]);
});

test("a report that is refused holds up no other, and is not sent again unasked", async () => {
  const made = await ledgerOf([0, 1, 2]);
  const closed = () => Response.json({ code: "closed" }, { status: 409 });
  const { seen, transport } = aggregator(async (body) =>
    JSON.parse(body).wave === 0 ? closed() : Response.json(await expectedReceipt(body)),
  );
  await sendWaiting(made.ledger, transport, null);
  assert.equal(seen.length, 3);
  assert.deepEqual(await notSent(made), [[0, "closed"]]);
  await sendWaiting(made.ledger, transport, null);
  assert.equal(seen.length, 3);
});

test("a receipt for other bytes marks nothing as sent", async () => {
  const made = await ledgerOf([0, 1]);
  const { seen, transport } = aggregator(async (body) =>
    Response.json({ ...(await expectedReceipt(body)), sha256: "0".repeat(64) }),
  );
  await sendWaiting(made.ledger, transport, null);
  assert.equal(seen.length, 2);
  assert.deepEqual(await notSent(made), [[0, ""], [1, ""]]);
});
