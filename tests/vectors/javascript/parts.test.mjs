import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { product } from "./product.mjs";

const { LoadError, arriving, laterPartsFrom } = product;
let asked;

// A source of parts that fails so many times, and then gives the name of the file that was asked for.
function failing(times) {
  laterPartsFrom(async (file) => {
    asked.push(file);
    if (asked.length <= times) throw new Error("not there");
    return { file };
  });
}

beforeEach(() => {
  asked = [];
});

test("a part that does not arrive is asked for again, under an address of its own each time", async () => {
  failing(2);
  for (let time = 0; time < 2; time += 1) await assert.rejects(arriving("late"), LoadError);
  assert.deepEqual(await arriving("late"), { file: "late.js?2" });
  assert.deepEqual(asked, ["late.js", "late.js?1", "late.js?2"]);
});

test("a part that arrives is asked for once", async () => {
  failing(0);
  const found = await Promise.all([arriving("early"), arriving("early"), arriving("other")]);
  assert.deepEqual(found, [{ file: "early.js" }, { file: "early.js" }, { file: "other.js" }]);
  assert.deepEqual(await arriving("early"), { file: "early.js" });
  assert.deepEqual(asked, ["early.js", "other.js"]);
});
