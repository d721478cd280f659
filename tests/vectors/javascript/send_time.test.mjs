import assert from "node:assert/strict";
import { test } from "node:test";

import { product, surveyOf, vectors } from "./product.mjs";

const {
  AnswerPath, Draws, Respondent, Transport, atSendTime, drawSendAt, dumpCanonical, expectedReceipt, loadSurvey,
} = product;

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

function waiting(privacy, more = {}) {
  const document = surveyOf(vectors("binary_rr/randomize.json")[0].question);
  const asked = { ...document, ...more, privacy: { ...document.privacy, ...privacy } };
  return loadSurvey(new TextEncoder().encode(dumpCanonical(asked)));
}

// Moments of the Python twin's test.
const OPENED = Date.parse("2026-11-02T12:00:00Z");
const NO_DRAWS = new Draws(() => assert.fail("drew"));

test("a report is sent at a multiple of the seconds since the visit's first page was opened", async (context) => {
  const survey = await waiting({ send_at_seconds: 180 });
  context.after(() => delete globalThis.history);
  context.mock.timers.enable({ apis: ["Date"], now: OPENED });
  for (const [elapsed, waits] of [[0, 180], [20, 160], [150, 30], [177.9, 2], [178.1, 182], [179.9, 180], [400, 140]]) {
    // Reloaded meanwhile or not: what counts is in the browser's history.
    const since = performance.timeOrigin + performance.now() - 1000 * elapsed;
    globalThis.history = { state: { since } };
    context.mock.timers.setTime(OPENED + 1000 * elapsed);
    const moment = drawSendAt(survey, 0, NO_DRAWS);
    assert.equal((moment - OPENED / 1000) % 180, 0);
    assert.equal(Math.round(moment - OPENED / 1000 - elapsed), waits);
  }
});

test("a report that would wait until a wave ends is sent before", async (context) => {
  context.after(() => delete globalThis.history);
  context.mock.timers.enable({ apis: ["Date"], now: OPENED });
  for (const [closes, waits] of [["12:10:00", 180], ["12:06:40", 100], ["12:05:00", null], ["12:03:20", null]]) {
    const survey = await waiting({ send_at_seconds: 180 }, { closes: `2026-11-02T${closes}Z` });
    globalThis.history = { state: { since: performance.timeOrigin + performance.now() } };
    assert.equal(drawSendAt(survey, 0, NO_DRAWS), waits === null ? 0 : OPENED / 1000 + waits);
  }
});

test("times of waiting that are out of range are refused, and both kinds together", async () => {
  const both = { send_at_seconds: 180, send_within_hours: 24 };
  const hours = [0, 169, "24"].map((bad) => ({ send_within_hours: bad }));
  for (const bad of [both, ...hours, ...[0, 9, 3601, "180"].map((seconds) => ({ send_at_seconds: seconds }))]) {
    await assert.rejects(waiting(bad), { sentence: "error_spec" });
  }
});
