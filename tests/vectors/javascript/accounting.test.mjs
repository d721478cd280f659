import assert from "node:assert/strict";
import { test } from "node:test";

import { product, vectors } from "./product.mjs";

const { DEFAULT_ALLOWANCE, NEARLY_SURE, reportEpsilon, wavesEpsilon } = product;
const { allowance, nearly_sure, reports, waves, bad } = vectors("accounting.json");
const near = (found, expected) => assert.ok(Math.abs(found - expected) <= 1e-12 * Math.max(1, expected));

test("a report costs what Python says, with all questions asked and with some", () => {
  for (const { epsilons, ask, epsilon } of reports) near(reportEpsilon(epsilons, ask), epsilon);
});

test("devices allow a survey what Python's clients allow, and call the same total much", () => {
  assert.deepEqual({ ...DEFAULT_ALLOWANCE }, allowance);
  assert.equal(NEARLY_SURE, nearly_sure);
});

test("waves add up as in Python", () => {
  for (const { epsilon, waves: count, total } of waves) near(wavesEpsilon(epsilon, count), total);
});

test("what is no epsilon, no number of questions or of waves is refused", () => {
  for (const { epsilons, ask } of bad) assert.throws(() => reportEpsilon(epsilons, ask), RangeError);
  for (const epsilon of [NaN, Infinity, -1, "1", null, undefined]) {
    assert.throws(() => reportEpsilon([epsilon]), RangeError);
    assert.throws(() => wavesEpsilon(epsilon, 1), RangeError);
  }
  for (const count of [0, -1, 1.5, NaN, "2", 1001]) assert.throws(() => wavesEpsilon(1, count), RangeError);
});

test("the order of the questions does not matter and is left alone", () => {
  const epsilons = [0.5, 2, 1];
  assert.equal(reportEpsilon(epsilons, 2), 3);
  assert.deepEqual(epsilons, [0.5, 2, 1]);
});
