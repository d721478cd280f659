// The signatures of RFC 9474, and what a device draws for them, as in Python.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { product, tape, vectors } from "./product.mjs";

const { Draws, blind, bytesOf, encodeMessage, finalize, integerOf, message, prepareIds } = product;
const RFC = JSON.parse(readFileSync(new URL("../../unit/shared/rfc9474_vectors.json", import.meta.url), "utf-8"));
const { prepared } = vectors("blind_signatures.json");

const bytes = (hex) => Buffer.from(hex, "hex");
const number = (hex) => BigInt(`0x${hex.replace(/^0x/, "")}`);
const hexOf = (data) => Buffer.from(data).toString("hex");

// What to the power of the exponent is the number's inverse: the RFC's factor, from its inverse.
function undone(value, modulus) {
  let [rest, next, one, other] = [modulus, value, 0n, 1n];
  while (next) [rest, next, one, other] = [next, rest % next, other, one - (rest / next) * other];
  return ((one % modulus) + modulus) % modulus;
}

test("the RFC's blinded messages and signatures come out, in all four variants", async () => {
  for (const vector of RFC) {
    const modulus = number(vector.n);
    const factor = undone(number(vector.inv), modulus);
    const blinded = await blind(bytes(vector.input_msg), modulus, bytes(vector.salt), factor);
    assert.equal(hexOf(blinded.sent), vector.blinded_msg, vector.name);
    assert.equal(hexOf(finalize(blinded, bytes(vector.blind_sig), modulus)), vector.sig, vector.name);
    if (!("encoded_msg" in vector)) continue;
    const encoded = await encodeMessage(bytes(vector.input_msg), bytes(vector.salt), 4096);
    assert.equal(encoded, number(vector.encoded_msg), vector.name);
  }
});

test("what is no signature of what was sent is refused", async () => {
  const [vector] = RFC;
  const modulus = number(vector.n);
  const factor = undone(number(vector.inv), modulus);
  const blinded = await blind(bytes(vector.input_msg), modulus, bytes(vector.salt), factor);
  const answer = bytes(vector.blind_sig);
  const marked = bytesOf((integerOf(answer) * 2n) % modulus, answer.length);
  for (const wrong of [marked, new Uint8Array(answer.length), answer.subarray(1), Buffer.from([0, ...answer])]) {
    assert.throws(() => finalize(blinded, wrong, modulus), RangeError);
  }
});

test("ids, salts and factors are drawn as Python draws them, and blinded to the same bytes", async () => {
  for (const { moduli, bytes: drawn, waves } of prepared) {
    const read = tape(drawn);
    const found = await prepareIds(moduli.map(number), new Draws(read));
    assert.equal(read.taken, read.given);
    for (const [wave, expected] of waves.entries()) {
      const { report_id, sent, inverse, encoded } = found[wave];
      const modulus = number(moduli[wave]);
      assert.equal(hexOf(await message(modulus, report_id)), expected.message);
      assert.deepEqual([report_id, hexOf(sent)], [expected.id, expected.blinded]);
      assert.deepEqual([inverse, encoded], [expected.inverse, expected.encoded].map(number));
      assert.equal(hexOf(finalize(found[wave], bytes(expected.signed), modulus)), expected.signature);
    }
  }
});
