// Which revision a link names: picked from what everybody is shown, and refused where that contradicts itself.
import assert from "node:assert/strict";
import { test } from "node:test";

import { product, surveyOf, vectors } from "./product.mjs";

const { Respondent, Transport, dumpCanonical, revisionOf, sha256, surveyDrawnFor } = product;
const HERE = "https://a.example";
const NAME = "vector";

// So many revisions, newest first, each naming the one before it.
async function chain(count) {
  const found = [];
  for (let revision = 1; revision <= count; revision += 1) {
    const replaces = found.length ? { replaces: await sha256(dumpCanonical(found[0])) } : {};
    found.unshift({ ...surveyOf(vectors("binary_rr/randomize.json")[0].question), revision, ...replaces });
  }
  return found;
}

const digestOf = (document) => sha256(dumpCanonical(document));
const bytesOf = (document) => new TextEncoder().encode(dumpCanonical(document));

// An aggregator that shows these revisions; `seen` are the addresses that were asked for.
function showing(revisions, newest = revisions[0], more = {}) {
  const seen = [];
  const request = async (url) => {
    seen.push(url.replace(`${HERE}/api/v1/surveys/`, ""));
    const all = { format: "sottovoce-revisions/1", revisions, survey: NAME, ...more };
    return new Response(dumpCanonical(url.endsWith("/revisions") ? all : newest));
  };
  return { seen, transport: new Transport(HERE, request, async () => {}) };
}

const connect = (transport, digest) => Respondent.connect({ origin: HERE, survey: NAME, digest }, transport, null);

test("every revision that is shown answers the link that names it, and no request says which", async () => {
  const revisions = await chain(8);
  const asked = new Set();
  for (const document of revisions.slice(1)) {
    const { seen, transport } = showing(revisions);
    const person = await connect(transport, (await digestOf(document)).slice(0, 32));
    assert.equal(person.survey.document.revision, document.revision);
    assert.deepEqual(transport.used.size, 2);
    asked.add(String(seen));
  }
  assert.deepEqual([...asked], [`${NAME},${NAME}/revisions`]);
  const { seen, transport } = showing(revisions);
  await connect(transport, (await digestOf(revisions[0])).slice(0, 32));
  assert.deepEqual(seen, [NAME]);
});

test("revisions without the name of the one before are tolerated: older releases wrote none", async () => {
  const revisions = (await chain(3)).map(({ replaces: _, ...document }) => document);
  const { transport } = showing(revisions);
  const person = await connect(transport, await digestOf(revisions[2]));
  assert.equal(person.survey.document.revision, 1);
});

test("a revision that is not shown is another survey than the link's", async () => {
  const { transport } = showing(await chain(2));
  await assert.rejects(connect(transport, "0".repeat(32)), { sentence: "error_other_survey" });
  const old = new Transport(HERE, async (url) =>
    url.endsWith("/revisions") ? new Response("", { status: 404 }) : new Response(dumpCanonical(surveyOf({}))));
  await assert.rejects(connect(old, "0".repeat(32)), { sentence: "error_other_survey" });
});

test("what is shown must not contradict itself", async () => {
  const [third, second, first] = await chain(3);
  const forged = { ...second, title: { en: "Forged" } };
  const lies = [
    [[third, forged, first]],
    [[third, second, { ...first, title: { en: "Forged" } }]],
    [[second, third, first]],
    [[third, third, first]],
    [[second, first], { ...second, title: { en: "Forged" } }],
    [[second, first], third],
    [[second, first], { ...third, title: { en: "For one person" } }],
    [[], first],
    [[third, second, { ...first, name: "other" }]],
    [[third, second, null]],
    [[third, second, first], third, { survey: "other" }],
    [[third, second, first], third, { format: "sottovoce-revisions/2" }],
    [Array(9).fill(first), first],
    ["text", third],
  ];
  for (const [revisions, newest, more] of lies) {
    const { transport } = showing(revisions, newest, more);
    const digest = await digestOf(first);
    await assert.rejects(revisionOf(transport, NAME, digest, bytesOf(newest ?? revisions[0])), { sentence: "error_revisions" });
  }
});

test("two keys for one wave contradict each other, whatever stands between them", async () => {
  const [first] = await chain(1);
  const follow = async (older, more) => ({ ...first, revision: older.revision + 1, replaces: await digestOf(older), ...more });
  const start = { ...first, access: { blind: ["one"] } };
  const same = await follow(start, { access: { blind: ["one", "two"] } });
  const other = await follow(start, { access: { blind: ["other"] } });
  const between = await follow(start, {});
  const late = await follow(between, { access: { blind: ["other"] } });
  const find = async (...revisions) =>
    revisionOf(showing(revisions).transport, NAME, await digestOf(start), bytesOf(revisions[0]));

  assert.deepEqual(await find(same, start), bytesOf(start));
  await assert.rejects(find(other, start), { sentence: "error_revisions" });
  await assert.rejects(find(late, between, start), { sentence: "error_revisions" });
  // One without keys sends the invitation itself.
  await assert.rejects(find(between, start), { sentence: "error_revisions" });
});

test("a survey published between two requests is no contradiction", async () => {
  const [third, second, first] = await chain(3);
  const { transport } = showing([third, second, first], second);
  assert.deepEqual(await revisionOf(transport, NAME, await digestOf(first), bytesOf(second)), bytesOf(first));
});

test("the survey of a report is had from the ledger, else from the aggregator, or not at all; never another one", async () => {
  const revisions = await chain(2);
  const digest = await digestOf(revisions[1]);
  const { seen, transport } = showing(revisions);
  const ledger = { surveyText: async () => dumpCanonical(revisions[1]) };
  assert.equal((await surveyDrawnFor(ledger, transport, NAME, digest)).digest, digest);
  assert.deepEqual(seen, []);
  const damaged = { surveyText: async () => dumpCanonical(revisions[0]) };
  assert.equal((await surveyDrawnFor(damaged, transport, NAME, digest)).digest, digest);
  assert.deepEqual(seen, [NAME, `${NAME}/revisions`]);
  const empty = { surveyText: async () => null };
  assert.equal(await surveyDrawnFor(empty, transport, NAME, "0".repeat(64)), null);
  const gone = new Transport(HERE, async () => { throw new TypeError("network"); }, async () => assert.fail("waited"));
  assert.equal(await surveyDrawnFor(empty, gone, NAME, digest), null);
});
