import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { product, surveyOf } from "./product.mjs";

const { MECHANISMS, Words, parseSurvey } = product;
const { catalogue, said } = JSON.parse(readFileSync(process.env.SOTTOVOCE_SENTENCES, "utf-8"));

test("the odds are told in Python's words", () => {
  const words = new Words(catalogue);
  const told = new Set();
  for (const { question, sentence } of said) {
    const asked = parseSurvey(surveyOf(question), "").questions[0];
    assert.equal(words.say(...words.explained(asked)), sentence);
    told.add(asked.mechanism.name);
  }
  assert.deepEqual(told, new Set(MECHANISMS.keys()));
});

test("no placeholder stays empty", () => {
  for (const { sentence } of said) assert.doesNotMatch(sentence, /[{}]|  | [,.;]/);
});
