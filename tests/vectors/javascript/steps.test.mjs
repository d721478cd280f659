import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { pretendPage } from "./page.mjs";
import { product, surveyOf } from "./product.mjs";

const { Words, beliefAfter, parseSurvey, receiptParts, statusLine } = product;
const { catalogue } = JSON.parse(readFileSync(process.env.SOTTOVOCE_SENTENCES, "utf-8"));
pretendPage();

const coin = (name, more) => ({
  type: "boolean", name, label: { en: `${name}?` }, mechanism: { name: "binary_rr", a: "3/4", b: "1/4" }, ...more,
});
const words = new Words(async (tag) => ({ ...catalogue, language: tag }), ["en"]);

async function asked(changes = {}) {
  const survey = parseSurvey({ ...surveyOf(coin("pills")), ...changes }, "");
  await words.speak(survey);
  return survey;
}

test("beliefs are rounded up, and not where a logarithm is", () => {
  const found = [0, Math.log(2), Math.log(3), Math.log(9), Math.log(27), Math.log(81), 8].map(beliefAfter);
  assert.deepEqual(found, [10, 19, 25, 50, 75, 90, 100]);
});

test("every state of a survey is told, one line at a time", async () => {
  const survey = await asked();
  const line = (kind, date = null) => statusLine(survey, words, { kind, date });
  assert.equal(line("closed", "2026-05-12").textContent, "This survey has been closed since May 12, 2026.");
  assert.equal(line("closed").textContent, "This survey is closed.");
  assert.equal(line("early").textContent, "Not open yet.");
  assert.equal(line("open", "2026-05-12").textContent, "Open until May 12, 2026.");
  assert.equal(line("open").hidden, true);
  for (const [kind, date] of [["closed", null], ["early", null], ["open", "2026-05-12"], ["token", null], ["offline", null]]) {
    assert.notEqual(line(kind, date).textContent, "", kind);
  }
});

test("a receipt says once, and of no question, that chance answers for what was not shown", async () => {
  const study = coin("study", { visible_if: { pills: ["yes"] }, when_absent: "no" });
  const survey = await asked({ questions: [coin("pills"), study, coin("sleep")] });
  const told = (values) => {
    const body = JSON.stringify({ format: "sottovoce-report/1", survey: "", digest: "", wave: 0, report_id: "", values });
    const [sent] = receiptParts(survey, words, { body, sha256: "", digest: "", report_id: "" });
    return { text: sent.textContent, rows: sent.all("table")[0].rows.slice(1).map((row) => row.textContent) };
  };
  for (const values of [[0, 0, 0], [1, 1, 1], [0, 1, 0]]) {
    const { rows, text } = told(values);
    assert.equal(text.split("A question that was not shown to you was answered by chance.").length, 2);
    assert.deepEqual(rows.map((row) => row.includes(catalogue.receipt_not_shown)), [false, false, false]);
  }
  assert.doesNotMatch(told([1, 1, 1]).text, /changed by chance/);
});
