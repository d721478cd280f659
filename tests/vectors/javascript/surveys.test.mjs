import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { product, surveyOf, tape, vectors } from "./product.mjs";

const { Draws, Grid, drawAsked, drawMemo, dumpDecimal, dumpReport, encode, expectedReceipt, loadSurvey, parseDecimal, parseReport, parseSurvey, randomize,
  showEpsilon } = product;
const { surveys } = JSON.parse(readFileSync(process.env.SOTTOVOCE_SENTENCES, "utf-8"));
const bytesOf = (text) => new TextEncoder().encode(text);
const { reports, bad_surveys: badSurveys } = vectors("surveys.json");

test("a value outside its question's domain is refused before anything is drawn", async () => {
  const survey = await loadSurvey(bytesOf(reports[0].survey));
  const silent = new Draws(() => assert.fail("a byte was read"));
  for (const value of [-1, 2, 0.5, NaN, "1", null, undefined, true]) {
    assert.throws(() => randomize(survey, [value], silent), { code: "answer_invalid" });
  }
});

test("a whole report has Python's digest, epsilon, bytes read and bytes sent", async () => {
  for (const vector of reports) {
    const survey = await loadSurvey(bytesOf(vector.survey));
    assert.equal(survey.digest, vector.digest);
    assert.deepEqual(new TextEncoder().encode(survey.text), bytesOf(vector.survey));
    assert.equal(survey.text, survey.text);
    assert.ok(Math.abs(survey.epsilon - vector.epsilon) <= 1e-12);
    const before = tape(vector.bytes_before);
    const asked = drawAsked(survey, new Draws(before));
    assert.deepEqual(asked, vector.asked);
    const memo = drawMemo(survey, new Draws(before));
    assert.deepEqual([...memo.values()].flat(), vector.memo);
    assert.equal(before.taken, before.given);
    const read = tape(vector.bytes);
    const report = randomize(survey, encode(survey, vector.answers, asked), new Draws(read), vector.wave, memo);
    assert.equal(read.taken, read.given);
    assert.equal(dumpReport(report, survey), vector.body);
    assert.deepEqual(parseReport(vector.body), { format: "sottovoce-report/1", ...report });
  }
});

test("examples, templates and random surveys are read", async () => {
  for (const [text, digest, epsilon] of surveys) {
    const survey = await loadSurvey(bytesOf(text));
    assert.equal(survey.digest, digest);
    assert.ok(Math.abs(survey.epsilon - epsilon) <= 1e-9, survey.name);
  }
});

test("every bad survey is refused as a bad survey", async () => {
  for (const text of badSurveys) await assert.rejects(loadSurvey(bytesOf(text)), { code: "spec_invalid" }, text);
});

test("bytes that are not UTF-8, or carry a byte order mark, are refused", async () => {
  const good = bytesOf(reports[0].survey);
  await assert.doesNotReject(loadSurvey(good));
  for (const bytes of [[0xef, 0xbb, 0xbf, ...good], [...good.slice(0, -1), 0xff, 0x7d]]) {
    await assert.rejects(loadSurvey(new Uint8Array(bytes)), { code: "spec_invalid" });
  }
});

test("an answer that is missing, unknown or for no question is refused", async () => {
  const survey = await loadSurvey(bytesOf(reports[0].survey));
  for (const answers of [{}, { q: "maybe" }, { q: 1 }, { q: "yes", other: "yes" }, { q: "constructor" }]) {
    assert.throws(() => encode(survey, answers), { code: "answer_invalid" });
  }
});

test("a damaged stored report is refused, not drawn again", () => {
  const { body } = reports[0];
  for (const damaged of ["", "{}", body.slice(0, -1), body.replace("[", "[[").replace("]", "]]}"), ` ${body}`]) {
    assert.throws(() => parseReport(damaged), { code: "budget_exhausted" });
  }
});

test("the expected receipt names the exact bytes", async () => {
  const { body, digest } = reports[0];
  const receipt = await expectedReceipt(body);
  assert.deepEqual(Object.keys(receipt), ["format", "survey", "digest", "wave", "report_id", "sha256"]);
  assert.equal(receipt.digest, digest);
  assert.match(receipt.sha256, /^[0-9a-f]{64}$/);
});

test("a shown epsilon is rounded up", () => {
  assert.deepEqual([0, 1, Math.log(3), 2.5, 0.001].map(showEpsilon), ["0.00", "1.00", "1.10", "2.50", "0.01"]);
});

test("answers have Python's true values, and what Python refuses is refused", () => {
  for (const { question, values, bad } of vectors("answers.json")) {
    const asked = parseSurvey(surveyOf(question), "").questions[0];
    for (const [answer, value] of values) {
      assert.deepEqual(asked.encode(answer), value);
      assert.doesNotThrow(() => asked.check(value));
    }
    for (const answer of bad) assert.throws(() => asked.encode(answer), { code: "answer_invalid" }, JSON.stringify(answer));
  }
});

test("decimals are exact and have one spelling", () => {
  const spellings = [["0.30", "0.3"], ["-0", "0"], ["100", "100"], ["-0.000000001", "-0.000000001"], [-7, "-7"]];
  for (const [text, spelled] of spellings) assert.equal(dumpDecimal(parseDecimal(text)), spelled);
  const grid = new Grid(...["0", "1", "0.1"].map(parseDecimal));
  assert.deepEqual(["0", "0.3", "0.7", "1"].map((text) => grid.exactIndex(text)), [0, 3, 7, 10]);
  assert.deepEqual([0, 3, 7, 10].map((step) => grid.text(step)), ["0", "0.3", "0.7", "1"]);
});

test("a survey that spells a number in another way is not canonical", () => {
  const mechanism = { name: "rounding_rr", a: "3/4", b: "1/4" };
  const good = { type: "integer", name: "q", label: { en: "Q" }, min: "0", max: "9", step: "1", mechanism };
  assert.doesNotThrow(() => parseSurvey(surveyOf(good), ""));
  for (const odd of [{ min: 0 }, { max: "9.0" }, { min: "-0" }, { step: undefined }, { max: "9.5", step: "0.5" }]) {
    assert.throws(() => parseSurvey(surveyOf({ ...good, ...odd }), ""), { code: "spec_invalid" });
  }
});

test("true values of every type are checked before drawing", () => {
  const checks = vectors("answers.json");
  const wrong = { select_multiple: [2 ** 53, -1, 15], vector: [0, [], [0, 0], [0, 0, 9], [0, 0, 0.5], [, 0, 0]], decimal: [11, "0", [0]] };
  for (const { question } of checks.filter((check) => check.question.type in wrong)) {
    const asked = parseSurvey(surveyOf(question), "").questions[0];
    for (const value of wrong[question.type]) {
      if (value === 15 && asked.domain.maxChoices > 3) continue;
      assert.throws(() => asked.check(value), { code: "answer_invalid" });
    }
  }
});
