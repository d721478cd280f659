import assert from "node:assert/strict";
import { test } from "node:test";

import { product, tape, vectors } from "./product.mjs";

const { Draws, bringEveryMechanism, contrast, describeQuestion, randomizeQuestion, toColumns, writeCode } = product;
const { readAskedAlone } = product;
const { bad, drawn } = vectors("records.json");
bringEveryMechanism();

test("records of single questions are Python's, from Python's bytes", async () => {
  for (const { question, answer, bytes, record, columns } of drawn) {
    const read = tape(bytes);
    const { client, format, ...found } = await randomizeQuestion(question, answer, { draws: new Draws(read) });
    assert.equal(format, "sottovoce-record/1");
    assert.match(client, /^0\./);
    assert.deepEqual(found, record);
    assert.deepEqual(toColumns(found), columns);
    assert.equal(read.taken, read.given);
    assert.equal((await describeQuestion(question)).digest, record.digest);
  }
});

test("what cannot stand alone is refused", async () => {
  for (const question of [...bad, null, {}, [], "boolean"]) {
    await assert.rejects(describeQuestion(question), { code: "spec_invalid" });
  }
});

test("an impossible answer is refused, and not repeated", async () => {
  const [{ question }] = drawn;
  for (const answer of ["perhaps", null, undefined, 1]) {
    await assert.rejects(randomizeQuestion(question, answer), { code: "answer_invalid", message: "error_unexpected" });
  }
});

test("what was not answered is not drawn", () => {
  for (const { question } of drawn) {
    for (const truth of [null, undefined]) {
      assert.throws(() => readAskedAlone(question).draw([truth], new Draws()), { code: "answer_invalid" });
    }
  }
});

test("columns take the name of the host", () => {
  const { record } = drawn[0];
  assert.deepEqual(Object.keys(toColumns(record, "q1")), ["q1", "q1_channel", "q1_once"]);
});

test("contrast is that of WCAG", () => {
  assert.equal(contrast("#000000", "#ffffff"), 21);
  assert.equal(contrast("#777777", "#ffffff").toFixed(2), "4.48");
});

test("codes of reports are Python's", () => {
  const ONCE = ["no", "device", "visit"];
  for (const { digest, size, report, once, code } of vectors("codes.json")) {
    const number = report === null ? null : BigInt(report);
    assert.equal(writeCode(digest, BigInt(size), number, ONCE[once]), code);
    if (once < 2) assert.equal(writeCode(digest, BigInt(size), number, once === 1), code);
  }
});
