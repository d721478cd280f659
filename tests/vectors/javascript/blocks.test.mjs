import assert from "node:assert/strict";
import { test } from "node:test";

import { product, tape, vectors } from "./product.mjs";

const { Draws, JointMember, JointRR, RANDOMIZERS, drawAsked, dumpReport, encode, loadSurvey, randomize } = product;
const { reportLength } = product;
const bytesOf = (text) => new TextEncoder().encode(text);
const { reports, laws, bad_changes: badChanges } = vectors("blocks.json");

test("surveys with blocks have Python's numbers, true values, bytes and reports", async () => {
  for (const vector of reports) {
    const survey = await loadSurvey(bytesOf(vector.survey));
    assert.equal(survey.digest, vector.digest);
    assert.ok(Math.abs(survey.epsilon - vector.epsilon) <= 1e-12);
    assert.ok(Math.abs(survey.epsilonOfWave - vector.wave_epsilon) <= 1e-12);
    assert.equal(reportLength(survey, 0), vector.length);
    for (const { answers, asked, bytes, bytes_before: before, values, body } of vector.drawn) {
      assert.deepEqual(drawAsked(survey, new Draws(tape(before))), asked);
      assert.deepEqual(encode(survey, answers, asked), values);
      const read = tape(bytes);
      assert.equal(dumpReport(randomize(survey, values, new Draws(read)), survey), body);
      assert.equal(read.taken, read.given);
      assert.equal(body.length, vector.length);
    }
  }
});

test("one question of a block is explained by its own channel and that of all", async () => {
  const survey = await loadSurvey(bytesOf(reports[0].survey));
  const [yesNo, option] = survey.questions.map(({ mechanism }) => [mechanism.sentence, mechanism.explain()]);
  // Of eight combinations with weights 9 and 1.
  const [yes, no, all] = [[12, 16], [4, 16], [9, 16]];
  assert.deepEqual(yesNo, ["together_yes_no", { yes, no, all, questions: 2 }]);
  assert.deepEqual(option, ["together_option", { own: [10, 16], other: [2, 16], all, questions: 2 }]);
});

test("a survey says how many questions one person is asked, at most", async () => {
  // Two of a question and blocks of 5 and 3; 3 of 5; a question, 2 of 3 and 4 of 5: each with a public question.
  const told = reports.slice(3).map(async ({ survey }) => (await loadSurvey(bytesOf(survey))).mostAsked);
  assert.deepEqual(await Promise.all(told), [5 + 3 + 1, 3 + 1, 1 + 2 + 4 + 1]);
});

test("every bad block is refused, as a bad survey", async () => {
  for (const [from, to] of badChanges) {
    const text = reports[1].survey.replace(from, to);
    await assert.rejects(loadSurvey(bytesOf(text)), { code: "spec_invalid" }, text);
  }
});

test("values that no respondent of a drawn set has are refused before anything is drawn", async () => {
  const survey = await loadSurvey(bytesOf(reports[3].survey));
  const [{ values }] = reports[3].drawn;
  const absent = values.indexOf(null);
  const present = values.findIndex((value) => value !== null);
  for (const wrong of [values.with(absent, 0), values.with(present, null)]) {
    assert.throws(() => randomize(survey, wrong, new Draws(() => assert.fail())), { code: "answer_invalid" });
  }
});

test("the law of a block's report, way by way, is the declared one, and what is read is the same for every truth", () => {
  for (const { ask, counts, epsilon, marginal, sizes, weights, ...fields } of laws) {
    const block = new JointRR(fields, sizes, ask ?? undefined);
    assert.deepEqual([block.counts, block.weights], [counts, weights]);
    assert.ok(Math.abs(block.epsilon - epsilon) <= 1e-12);
    const [own] = block.marginal(0);
    assert.ok(Math.abs(own / block.total - fraction(marginal[0])) <= 1e-15);
    const last = sizes.map((size, place) => (place < block.asked ? size - 1 : null));
    const first = last.map((value) => value && 0);
    const ways = [first, last].map((truths) => lawOf(block, truths));
    assert.deepEqual(ways[0].bounds, ways[1].bounds);
    [first, last].forEach((truths, at) => {
      assert.equal(ways[at].law.size, sizes.slice(0, block.asked).reduce((product, size) => product * size, 1));
      for (const [reported, chance] of ways[at].law) {
        const distance = reported.split(",").filter((category, place) => category !== String(truths[place] ?? "")).length;
        assert.ok(Math.abs(chance / (weights[distance] / block.total) - 1) <= 1e-9);
      }
    });
  }
});

function fraction(text) {
  const [part, whole = 1] = text.split("/").map(Number);
  return part / whole;
}

// The probability of each report, and the bounds of each way, in their order.
function lawOf(block, truths) {
  const law = new Map();
  const bounds = [];
  const member = new JointMember(block, 0, false);
  const visit = (choices) => {
    const way = followed(choices);
    const reported = String(RANDOMIZERS.get("joint_rr")(member, truths[0], way.draws, undefined, truths));
    law.set(reported, (law.get(reported) ?? 0) + way.chance());
    bounds.push(way.bounds.join());
    for (let place = choices.length; place < way.parts.length; place += 1) {
      for (let other = 1; other < way.parts[place].length; other += 1) {
        visit([...choices, ...Array(place - choices.length).fill(0), other]);
      }
    }
  };
  visit([]);
  return { law, bounds: bounds.sort() };
}

// Draws that take the given choices, then always the first one that is possible.
function followed(choices) {
  const parts = [];
  const bounds = [];
  const choose = (weights) => {
    const possible = [...weights.keys()].filter((index) => weights[index] > 0);
    const whole = weights.reduce((sum, weight) => sum + weight, 0);
    const taken = possible[choices[parts.length] ?? 0];
    parts.push(possible.map((index) => weights[index] / whole));
    bounds.push(whole);
    return taken;
  };
  const chance = () => parts.reduce((product, part, place) => product * part[choices[place] ?? 0], 1);
  const draws = { pick: choose, below: (bound) => choose(Array(bound).fill(1)) };
  return { bounds, chance, draws, parts };
}
