import assert from "node:assert/strict";
import { test } from "node:test";

import { product, tape, vectors } from "./product.mjs";

const { Draws, checkDevice, systemBytes } = product;

test("below gives Python's values from Python's bytes", () => {
  for (const { bound, value, bytes } of vectors("draws.json")) {
    const read = tape(bytes);
    assert.equal(new Draws(read).below(bound), value);
    assert.equal(read.taken, read.given);
  }
});

test("below refuses bounds that it could not draw from exactly", () => {
  for (const bound of [0, -1, 1.5, 2 ** 32 + 1, NaN, "6", 6n, null]) {
    assert.throws(() => new Draws().below(bound), RangeError);
  }
});

test("a source that gives too few bytes is refused", () => {
  assert.throws(() => new Draws(() => new Uint8Array(0)).below(6));
  assert.throws(() => new Draws(() => new Uint8Array(15)).identity());
});

test("pick gives every index the weight it asks for", () => {
  const picked = Array.from({ length: 8 }, (_, byte) => new Draws(() => [byte]).pick([1, 0, 5, 2]));
  assert.deepEqual(picked, [0, 2, 2, 2, 2, 2, 3, 3]);
});

test("system bytes are as many as asked for and not all alike", () => {
  assert.equal(systemBytes(16).length, 16);
  assert.notDeepEqual(systemBytes(16), systemBytes(16));
});

test("a device without randomness or without a secure context is refused", () => {
  const crypto = { getRandomValues: () => {} };
  assert.doesNotThrow(() => checkDevice({ isSecureContext: true, crypto }));
  const lacking = [{ crypto }, { isSecureContext: false, crypto }, { isSecureContext: true }, { isSecureContext: true, crypto: {} }];
  for (const scope of lacking) assert.throws(() => checkDevice(scope), product.SurveyError);
});
