import assert from "node:assert/strict";
import { test } from "node:test";

import { product, surveyOf, tape, vectors } from "./product.mjs";

const { Draws, MECHANISMS, RANDOMIZERS, parseSurvey } = product;

test("every mechanism has a randomizer", () => {
  // A block's is for no question alone.
  assert.deepEqual([...RANDOMIZERS.keys()].sort(), [...MECHANISMS.keys(), "joint_rr"].sort());
});

test("every mechanism bears its own name", () => {
  for (const [name, mechanism] of MECHANISMS) assert.equal(mechanism.mechanismName, name);
});

for (const name of MECHANISMS.keys()) {
  test(`${name} reports Python's values from Python's bytes`, () => {
    for (const { question, epsilon, draws } of vectors(`${name}/randomize.json`)) {
      const asked = parseSurvey(surveyOf(question), "").questions[0];
      assert.ok(Math.abs(asked.epsilon - epsilon) <= 1e-12);
      for (const [answer, bytes, report] of draws) {
        const read = tape(bytes);
        assert.equal(RANDOMIZERS.get(name)(asked.mechanism, asked.encode(answer), new Draws(read)), report);
        assert.equal(read.taken, read.given);
      }
    }
  });

  test(`${name} refuses what Python refuses`, () => {
    for (const { question, error } of vectors(`${name}/bad.json`)) {
      assert.throws(() => parseSurvey(surveyOf(question), ""), { code: error });
    }
  });
}

test("tables of weights are whole, positive and of one sum", () => {
  for (const name of ["binary_rr", "kary_rr", "square_wave"]) {
    for (const { question } of vectors(`${name}/randomize.json`)) {
      const { domain, mechanism } = parseSurvey(surveyOf(question), "").questions[0];
      const sums = [0, 1, domain.size - 1].map((value) => {
        const weights = mechanism.weights(value);
        assert.equal(weights.length, mechanism.largest + 1);
        assert.ok(weights.every((weight) => Number.isSafeInteger(weight) && weight > 0));
        return weights.reduce((sum, weight) => sum + weight, 0);
      });
      assert.ok(sums[0] <= 2 ** 32 && new Set(sums).size === 1);
    }
  }
});
