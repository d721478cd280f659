import assert from "node:assert/strict";
import { test } from "node:test";

import { product, tape, vectors } from "./product.mjs";

const { Draws, dumpReport, encode, keepArm, keepAsked, loadSurvey, randomize, reportLength } = product;
const bytesOf = (text) => new TextEncoder().encode(text);
const { reports, bad_changes: badChanges } = vectors("arms.json");
const key = ["https://a.example", "vector", 0, ""];
const forgetful = { prepare: async (_key, _pool, draw) => draw() };

test("surveys with arms have Python's arm, places, true values, bytes and reports, all of one length", async () => {
  for (const vector of reports) {
    const survey = await loadSurvey(bytesOf(vector.survey));
    assert.equal(survey.digest, vector.digest);
    assert.ok(Math.abs(survey.epsilon - vector.epsilon) <= 1e-12);
    assert.equal(reportLength(survey, 0), vector.length);
    for (const { answers, asked, bytes, bytes_before: before, values, body } of vector.drawn) {
      const first = tape(before);
      const respondent = { draws: new Draws(first), key, ledger: forgetful, survey };
      assert.equal(await keepArm(respondent), answers.arm);
      assert.deepEqual(await keepAsked(respondent, answers.arm), asked);
      assert.equal(first.taken, first.given);
      assert.deepEqual(encode(survey, answers, asked), values);
      const read = tape(bytes);
      assert.equal(dumpReport(randomize(survey, values, new Draws(read)), survey), body);
      assert.equal(read.taken, read.given);
      assert.equal(body.length, vector.length);
    }
  }
});

test("every bad arm is refused, as a bad survey", async () => {
  for (const [from, to] of badChanges) {
    const text = reports[1].survey.replace(from, to);
    assert.notEqual(text, reports[1].survey, from);
    await assert.rejects(loadSurvey(bytesOf(text)), { code: "spec_invalid" }, to);
  }
});

test("the law of the arm is its weights, exactly", async () => {
  const survey = await loadSurvey(bytesOf(reports[1].survey));
  const counts = new Map();
  // Seven equally likely draws, one byte each; the rest is rejected.
  for (let byte = 0; byte < 7; byte += 1) {
    const arm = await keepArm({ draws: new Draws(() => Uint8Array.of(byte)), key, ledger: forgetful, survey });
    counts.set(arm, (counts.get(arm) ?? 0) + 1);
  }
  assert.deepEqual([...counts], [["direct", 1], ["protected", 4], ["third", 2]]);
});

test("the arm is kept under no link and no revision, and under the wave only where the survey says so", async () => {
  const [one, two] = await Promise.all(reports.map(({ survey }) => loadSurvey(bytesOf(survey))));
  const seen = [];
  const ledger = { prepare: async (own, pool, draw) => (seen.push([...own, pool]), draw()) };
  const draws = new Draws(() => Uint8Array.of(0));
  await keepArm({ draws, key: ["https://a.example", "vector", 1, "TOKEN"], ledger, survey: one });
  await keepArm({ draws, key: ["https://a.example", "vector", 1, "TOKEN"], ledger, survey: two });
  assert.deepEqual(seen.map((own) => own.slice(1)), [["vector", -4, "", "arm"], ["vector", 1, "", "arm"]]);
});

test("what is kept and is no arm of the survey is no reason to draw again", async () => {
  const survey = await loadSurvey(bytesOf(reports[0].survey));
  for (const kept of ["fourth", null, undefined, 0, ["direct"]]) {
    const ledger = { prepare: async () => kept };
    await assert.rejects(keepArm({ draws: null, key, ledger, survey }), { sentence: "error_ledger" });
  }
});

test("values that are not those of one arm are refused before anything is drawn", async () => {
  const survey = await loadSurvey(bytesOf(reports[0].survey));
  const silent = new Draws(() => assert.fail("a byte was read"));
  for (const wrong of [[0, 1, null, 1], [0, null, 1, 0], [0, 1, 1, 0], [0, null, null, 0], [0, 1, null, 2], [0, 1, null, null]]) {
    assert.throws(() => randomize(survey, wrong, silent), { code: "answer_invalid" }, String(wrong));
  }
});
