import assert from "node:assert/strict";
import { test } from "node:test";

import { product, tape, vectors } from "./product.mjs";

const { Draws, dumpReport, encode, loadSurvey, procedure, randomize, MECHANISMS } = product;
const bytesOf = (text) => new TextEncoder().encode(text);
const { reports, bad_answers: badAnswers, bad_changes: badChanges, bad_surveys: badSurveys } = vectors("items.json");

test("what is hidden, refused or tossed by hand has Python's true values, bytes and reports", async () => {
  for (const vector of reports) {
    const survey = await loadSurvey(bytesOf(vector.survey));
    assert.equal(survey.digest, vector.digest);
    assert.ok(Math.abs(survey.epsilon - vector.epsilon) <= 1e-12);
    assert.deepEqual(survey.questions.map((question) => question.label), vector.labels);
    for (const { answers, values, bytes, body } of vector.drawn) {
      assert.deepEqual(encode(survey, answers), values);
      const read = tape(bytes);
      assert.equal(dumpReport(randomize(survey, values, new Draws(read)), survey), body);
      assert.equal(read.taken, read.given);
    }
  }
});

test("answers to items that Python refuses are refused", async () => {
  const survey = await loadSurvey(bytesOf(reports[0].survey));
  for (const answers of badAnswers) assert.throws(() => encode(survey, answers), { code: "answer_invalid" });
});

test("every bad survey of items is refused, as a bad survey", async () => {
  const changed = badChanges.map(([from, to]) => reports[0].survey.replace(from, to));
  for (const text of [...badSurveys, ...changed]) await assert.rejects(loadSurvey(bytesOf(text)), { code: "spec_invalid" }, text);
});

test("a mistake in an item is told at the item", async () => {
  const text = reports[0].survey.replace('"visible_if":{"smokes":["yes"]}', '"visible_if":{"quit":["yes"]}');
  await assert.rejects(loadSurvey(bytesOf(text)), { values: { pointer: "/questions/3" } });
});

test("procedures for coin and die are Python's", () => {
  const BinaryRR = MECHANISMS.get("binary_rr");
  for (const { a, b, procedure: expected } of vectors("own_coin.json")) {
    assert.deepEqual(procedure(new BinaryRR({ name: "binary_rr", a, b })), expected);
  }
});
