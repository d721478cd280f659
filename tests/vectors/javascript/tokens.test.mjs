import assert from "node:assert/strict";
import { test } from "node:test";

import { product, vectors } from "./product.mjs";

const { parseLink, parseToken } = product;

test("tokens are read and refused as Python does", () => {
  for (const { survey, text, token } of vectors("tokens.json")) {
    if (token === null) assert.throws(() => parseToken(text, survey), RangeError, text);
    else assert.equal(parseToken(text, survey), token, text);
  }
});

test("a link's mistyped token is told without asking anybody, and is not repeated", () => {
  const whole = vectors("tokens.json").find(({ survey, text }) => survey === "affairs" && text.length === 18);
  const link = (token) => parseLink(`https://h.example/s/affairs#t=${token}`);

  assert.equal(link(whole.text).token, whole.token);
  assert.equal(link("").token, "");
  for (const bad of [`1${whole.text.slice(1)}`, whole.text.slice(1), `${whole.text}0`]) {
    assert.throws(() => link(bad), (error) => error.sentence === "error_link" && !error.message.includes(bad));
  }
});
