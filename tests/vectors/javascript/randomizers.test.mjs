import assert from "node:assert/strict";
import { test } from "node:test";

import { product, serves, surveyOf, tape, vectors } from "./product.mjs";

const { Draws, MECHANISMS, RANDOMIZERS, parseSurvey } = product;

test("every mechanism has a randomizer", () => {
  assert.deepEqual([...RANDOMIZERS.keys()], [...MECHANISMS.keys()]);
});

for (const name of MECHANISMS.keys()) {
  test(`${name} reports Python's values from Python's bytes`, () => {
    for (const { question, epsilon, draws } of vectors(`${name}/randomize.json`)) {
      assert.ok(serves(question));
      const asked = parseSurvey(surveyOf(question), "").questions[0];
      assert.ok(Math.abs(asked.epsilon - epsilon) <= 1e-12);
      for (const [answer, bytes, report] of draws) {
        const read = tape(bytes);
        assert.equal(RANDOMIZERS.get(name)(asked.mechanism, asked.encode(answer), new Draws(read)), report);
        assert.equal(read.taken, read.given);
      }
    }
  });

  test(`${name} has rows of whole weights with one sum`, () => {
    for (const { question } of vectors(`${name}/randomize.json`)) {
      const { mechanism } = parseSurvey(surveyOf(question), "").questions[0];
      for (let value = 0; value < mechanism.inputs; value += 1) {
        const weights = mechanism.weights(value);
        assert.ok(weights.length === mechanism.largest + 1 && weights.every((weight) => Number.isSafeInteger(weight) && weight > 0));
        assert.equal(weights.reduce((sum, weight) => sum + weight, 0), mechanism.denominator);
      }
    }
  });

  test(`${name} refuses what Python refuses`, () => {
    for (const { question, error } of vectors(`${name}/bad.json`)) {
      assert.throws(() => parseSurvey(surveyOf(question), ""), { code: error });
    }
  });
}
