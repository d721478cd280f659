import assert from "node:assert/strict";
import { test } from "node:test";

import { product, surveyOf, vectors } from "./product.mjs";

const { Draws, Transport, dumpCanonical, dumpReport, expectedReceipt, loadSurvey, randomize, sendWaiting } = product;
const HERE = "https://a.example";
const SURVEY = await loadSurvey(
  new TextEncoder().encode(dumpCanonical(surveyOf(vectors("binary_rr/randomize.json")[0].question))),
);

// A ledger in which a report waits for each of these waves.
function ledgerOf(waves) {
  const kept = waves.map((wave) => {
    const body = dumpReport(randomize(SURVEY, [1], new Draws(), wave), SURVEY);
    return [[HERE, SURVEY.name, wave, "TOKEN"], { body, sent: false }];
  });
  return {
    kept,
    waiting: async () => kept.filter(([, { sent }]) => !sent),
    markSent: async (key) => void (kept.find(([known]) => String(known) === String(key))[1].sent = true),
  };
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

const wavesNotSent = ({ kept }) => kept.filter(([, { sent }]) => !sent).map(([[, , wave]]) => wave);

test("all reports that wait are sent, the same bytes with their token, but for the one in hand", async () => {
  const ledger = ledgerOf([0, 1, 2]);
  const { seen, transport } = aggregator();
  const [own] = ledger.kept[1];
  await sendWaiting(ledger, transport, [...own]);
  assert.deepEqual(seen.map(({ body }) => body), [0, 2].map((place) => ledger.kept[place][1].body));
  assert.deepEqual(new Set(seen.map(({ token }) => token)), new Set(["Bearer TOKEN"]));
  assert.deepEqual(wavesNotSent(ledger), [1]);
});

test("a report that is refused waits on and does not hold up the others", async () => {
  const ledger = ledgerOf([0, 1, 2]);
  const closed = () => Response.json({ code: "closed" }, { status: 409 });
  const { seen, transport } = aggregator(async (body) =>
    JSON.parse(body).wave === 0 ? closed() : Response.json(await expectedReceipt(body)),
  );
  await sendWaiting(ledger, transport, null);
  assert.equal(seen.length, 3);
  assert.deepEqual(wavesNotSent(ledger), [0]);
});

test("a receipt for other bytes marks nothing as sent", async () => {
  const ledger = ledgerOf([0, 1]);
  const { seen, transport } = aggregator(async (body) =>
    Response.json({ ...(await expectedReceipt(body)), sha256: "0".repeat(64) }),
  );
  await sendWaiting(ledger, transport, null);
  assert.equal(seen.length, 2);
  assert.deepEqual(wavesNotSent(ledger), [0, 1]);
});
