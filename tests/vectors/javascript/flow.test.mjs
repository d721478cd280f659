// The way of the page, with steps that only note that they were shown: what it reads first, and what it posts unasked.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { FakeIndexedDB, FakeKeyRange } from "./indexeddb.mjs";
import { product, surveyOf, vectors } from "./product.mjs";

const { BrowserLedger, Draws, Form, dumpCanonical, dumpReport, expectedReceipt, loadSurvey, randomize } = product;
const HERE = "https://a.example";
const DOCUMENT = surveyOf(vectors("binary_rr/randomize.json")[0].question);
const TEXT = dumpCanonical(DOCUMENT);
const SURVEY = await loadSurvey(new TextEncoder().encode(TEXT));
const KEY = [HERE, SURVEY.name, 0, ""];
const STEPS = ["receiptStep", "plainReceiptStep", "refusedStep", "endedStep", "samePersonStep"];

let shown;
let asked;
let answer;

beforeEach(async () => {
  [shown, asked, answer] = [[], [], () => assert.fail("nothing was to be asked for")];
  Object.assign(globalThis, { IDBKeyRange: FakeKeyRange, indexedDB: new FakeIndexedDB(), isSecureContext: true });
  globalThis.parent = globalThis;
  globalThis.fetch = async (url, { body }) => {
    asked.push(url.replace(`${HERE}/api/v1/surveys/`, ""));
    return answer(url, body);
  };
  const noted = STEPS.map((name) => [name, (...told) => (shown.push([name, told]), { node: {} })]);
  product.provide({ provided: Object.fromEntries(noted) });
});

// Open the page where this entry was recorded; `press(place)` does what a button of the last step does.
async function opened(entry, { token = "", key = KEY } = {}) {
  const ledger = await BrowserLedger.open(globalThis.indexedDB);
  const body = dumpReport(randomize(SURVEY, [1], new Draws()), SURVEY);
  await ledger.record(key, { digest: SURVEY.digest, epsilon: 1, body, sent: false }, TEXT);
  if (entry.refused) await ledger.markRefused(key, entry.refused);
  if (entry.sent) await ledger.markSent(key);
  const words = { speak: async (survey) => (words.survey = survey) };
  const view = { close: () => {}, show: () => {}, busy: () => {}, guarded: async (work) => work() };
  await new Form(words, view).open(`${HERE}/s/${SURVEY.name}${token && `#t=${token}`}`, {});
  return { body, ledger, words };
}

test("whoever has answered is shown the receipt from the ledger, and nothing is asked for", async () => {
  const { body, words } = await opened({ sent: true });
  const [[name, [survey, , receipt]]] = shown;
  assert.deepEqual([name, survey.digest, receipt.body], ["receiptStep", SURVEY.digest, body]);
  assert.equal(words.survey.digest, SURVEY.digest);
  assert.deepEqual(asked, []);
});

test("a refused report is shown with its code and posted only when somebody presses", async () => {
  const { body, ledger } = await opened({ refused: "closed" });
  const [[name, [, , entry, on]]] = shown;
  assert.deepEqual([name, entry.refused, asked], ["refusedStep", "closed", []]);
  answer = async (_, posted) => Response.json(await expectedReceipt(posted));
  await on.again();
  assert.deepEqual(asked, [`${SURVEY.name}/reports`]);
  assert.equal(shown.at(-1)[0], "receiptStep");
  assert.equal(shown.at(-1)[1][2].body, body);
  assert.equal((await ledger.get(KEY)).sent, true);
});

test("a report that waits is posted, and a final refusal of it is shown with its reason", async () => {
  answer = async () => Response.json({ code: "token_invalid" }, { status: 401 });
  await opened({});
  assert.deepEqual(asked, [`${SURVEY.name}/reports`]);
  const [[name, [, , entry]]] = shown;
  assert.deepEqual([name, entry.refused], ["refusedStep", "token_invalid"]);
});

test("another link asks whose the refused report was before anything is asked for, and yes sends its bytes", async () => {
  const [first, second] = ["A".repeat(16), "B".repeat(16)];
  const { body } = await opened({ refused: "token_invalid" }, { token: second, key: [HERE, SURVEY.name, 0, first] });
  const [[name, [, yes]]] = shown;
  assert.deepEqual([name, asked], ["samePersonStep", []]);
  const posted = [];
  answer = async (_, sent) => (posted.push(sent), Response.json(await expectedReceipt(sent)));
  await yes();
  assert.deepEqual(posted, [body]);
  assert.equal(shown.at(-1)[0], "receiptStep");
});
