import assert from "node:assert/strict";
import { test } from "node:test";

import { product, vectors } from "./product.mjs";

const { DEFAULT_ALLOWANCE, NEARLY_SURE } = product;
const { allowance, nearly_sure } = vectors("accounting.json");

test("devices allow a survey what Python's clients allow, and call the same total much", () => {
  assert.deepEqual({ ...DEFAULT_ALLOWANCE }, allowance);
  assert.equal(NEARLY_SURE, nearly_sure);
});
