import assert from "node:assert/strict";
import { test } from "node:test";

import { product, tape, vectors } from "./product.mjs";

const { Draws, arrange, drawOrder, inOrder, keepOrder, loadSurvey, orderedLists } = product;
const bytesOf = (text) => new TextEncoder().encode(text);
const { drawn: surveys, bad_changes: badChanges } = vectors("order.json");

test("orders are Python's, from the same bytes", async () => {
  for (const vector of surveys) {
    const survey = await loadSurvey(bytesOf(vector.survey));
    assert.equal(survey.digest, vector.digest);
    assert.equal(survey.isOrdered, true);
    for (const { bytes, drawn, items, lists } of vector.cases) {
      const read = tape(bytes);
      const draws = new Draws(read);
      const own = orderedLists(survey);
      assert.deepEqual(own.map((list) => drawOrder(list, draws)), drawn);
      assert.equal(read.taken, read.given);
      const made = arrange(survey, own, drawn);
      assert.deepEqual(made.items, items);
      const shown = [...made.lists].filter(([item]) => item !== null);
      assert.deepEqual(shown.sort(([one], [other]) => one - other), lists);
    }
  }
});

test("every bad order is refused", async () => {
  for (const [from, to] of badChanges) {
    await assert.rejects(loadSurvey(bytesOf(surveys[0].survey.replace(from, to))), undefined, to);
  }
});

test("an order is kept, and one that could not be drawn is refused", async () => {
  const survey = await loadSurvey(bytesOf(surveys[1].survey));
  const kept = new Map();
  const ledger = { prepare: async (key, pool, draw) => kept.get(pool) ?? kept.set(pool, draw()).get(pool) };
  const draws = new Draws((count) => crypto.getRandomValues(new Uint8Array(count)));
  const respondent = { draws, key: ["o", "s", 0, ""], ledger, survey };
  const first = await keepOrder(respondent);
  assert.deepEqual(await keepOrder(respondent), first);
  for (const bad of [[0, 0, 1], [0, 1], [0, 1, 2, 3], {}, [0, 1, 3], "012"]) {
    for (const pool of kept.keys()) kept.set(pool, bad);
    await assert.rejects(keepOrder(respondent));
  }
});

test("what is shown has other places and the same questions", async () => {
  const survey = await loadSurvey(bytesOf(surveys[0].survey));
  const { items, lists } = surveys[0].cases[0];
  const seen = inOrder(survey, survey, { items, lists: new Map(lists) });
  assert.deepEqual(seen.items.map(({ name }) => name), items.map((index) => survey.items[index].name));
  assert.equal(seen.questions, survey.questions);
  for (const item of seen.items) assert.ok(item.questions.every((question) => survey.questions.includes(question)));
});
