import assert from "node:assert/strict";
import { test } from "node:test";

import { product, surveyOf, vectors } from "./product.mjs";

const { AnswerPath, Respondent, Transport, dumpCanonical, expectedReceipt, atSendTime } = product;

// A clock that stands still until it is moved, or until its timer is waited for; the timer may ring early or late.
function fakeClock(moment, off = 0) {
  const clock = () => moment;
  const move = (milliseconds) => void (moment += milliseconds);
  return { clock, move, timer: async (milliseconds) => move(Math.max(1, milliseconds + off)) };
}

async function comesBack(pressed, lasts, off = 0) {
  const { clock, move, timer } = fakeClock(pressed, off);
  assert.equal(await atSendTime(async () => (move(lasts), "done"), clock, timer), "done");
  return clock();
}

test("work comes back on the second send time, however long it took", async () => {
  for (const lasts of [0, 1, 2.5, 40, 499, 500]) {
    for (const pressed of [0, 1, 250, 499]) assert.equal(await comesBack(pressed, lasts), 1000);
    assert.equal(await comesBack(12_345.6, lasts), 13_000);
  }
});

test("a timer that rings early is set again", async () => {
  assert.equal(await comesBack(10, 3, -7), 1000);
});

test("work that takes longer than that comes back on a later send time", async () => {
  assert.equal(await comesBack(0, 1001), 1500);
  assert.equal(await comesBack(0, 1000), 1000);
  assert.equal(await comesBack(100, 3000), 3500);
});

test("work that fails comes back at once", async () => {
  const { clock, timer } = fakeClock(3);
  const fail = async () => {
    throw new RangeError();
  };
  await assert.rejects(atSendTime(fail, clock, timer), RangeError);
  assert.equal(clock(), 3);
});

test("a report leaves at the same moment for either answer, though drawing one takes longer", async () => {
  const coin = vectors("binary_rr/randomize.json")[0].question;
  const left = {};
  for (const [q, lasts] of [["yes", 2], ["no", 0]]) {
    const { clock, move, timer } = fakeClock(100);
    const request = async (_url, { method, body }) => {
      if (method === "GET") return new Response(dumpCanonical(surveyOf(coin)));
      left[q] = clock();
      return Response.json(await expectedReceipt(body));
    };
    let kept = null;
    const record = async (_key, entry) => (move(lasts), (kept = entry));
    const ledger = { get: async () => kept, record, markSent: async () => {} };
    const link = { origin: "https://a.example", survey: "vector", digest: "" };
    const sendTime = (work) => atSendTime(work, clock, timer);
    const person = await Respondent.connect(link, new Transport(link.origin, request), ledger);
    await new AnswerPath(person, sendTime).answer({ q });
  }
  assert.deepEqual(left, { yes: 1000, no: 1000 });
});
