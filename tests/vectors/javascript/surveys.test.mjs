import assert from "node:assert/strict";
import { test } from "node:test";

import { product, serves, tape, vectors } from "./product.mjs";

const { Draws, dumpReport, encode, expectedReceipt, loadSurvey, parseReport, randomize, showEpsilon } = product;
const bytesOf = (text) => new TextEncoder().encode(text);
const { reports: everyReport, bad_surveys: badSurveys } = vectors("surveys.json");
const isServed = (vector) => JSON.parse(vector.survey).questions.every(serves);
const reports = everyReport.filter(isServed);

test("a survey with a question that this client does not serve is refused as a whole", async () => {
  assert.ok(reports.length >= 12);
  for (const vector of everyReport.filter((other) => !isServed(other))) {
    await assert.rejects(loadSurvey(bytesOf(vector.survey)), { code: "spec_invalid" });
  }
});

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
    assert.ok(Math.abs(survey.epsilon - vector.epsilon) <= 1e-12);
    const read = tape(vector.bytes);
    const report = randomize(survey, encode(survey, vector.answers), new Draws(read), vector.wave);
    assert.equal(read.taken, read.given);
    assert.equal(dumpReport(report, survey), vector.body);
    assert.deepEqual(parseReport(vector.body), report);
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
