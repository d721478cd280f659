// The way of the page: what it reads first, which step it shows, and what it posts unasked.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { beforeEach, test } from "node:test";

import { FakeIndexedDB, FakeKeyRange } from "./indexeddb.mjs";
import { pretendPage } from "./page.mjs";
import { product, surveyOf, vectors } from "./product.mjs";

const { BrowserLedger, Draws, Form, Words, dumpCanonical, dumpReport, expectedReceipt, loadSurvey, randomize } = product;
const HERE = "https://a.example";
const DOCUMENT = surveyOf(vectors("binary_rr/randomize.json")[0].question);
const TEXT = dumpCanonical(DOCUMENT);
const SURVEY = await loadSurvey(new TextEncoder().encode(TEXT));
const KEY = [HERE, SURVEY.name, 0, ""];
const { catalogue } = JSON.parse(readFileSync(process.env.SOTTOVOCE_SENTENCES, "utf-8"));

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
  pretendPage();
});

// Open the page where this entry was recorded.
async function opened(entry, { token = "", key = KEY } = {}) {
  const ledger = await BrowserLedger.open(globalThis.indexedDB);
  const body = dumpReport(randomize(SURVEY, [1], new Draws()), SURVEY);
  await ledger.record(key, { digest: SURVEY.digest, epsilon: 1, body, sent: false }, TEXT);
  if (entry.refused) await ledger.markRefused(key, entry.refused);
  if (entry.sent) await ledger.markSent(key);
  const words = new Words(async (tag) => ({ ...catalogue, language: tag }), ["en"]);
  const view = {
    close: () => {},
    show: ({ node }) => shown.push(node),
    busy: () => {},
    offerExit: async () => {},
    guarded: async (work) => work(),
  };
  await new Form(words, view).open(`${HERE}/s/${SURVEY.name}${token && `#t=${token}`}`, {});
  return { body, ledger };
}

// Do what a button of the last step does.
async function press(label) {
  const [pressed] = shown.at(-1).all("button").filter((button) => button.textContent === catalogue[label]);
  await pressed.onclick();
}

test("whoever has answered is shown the receipt from the ledger, and nothing is asked for", async () => {
  const { body } = await opened({ sent: true });
  const [receipt] = shown;
  assert.equal(receipt.id, "receipt");
  assert.ok(receipt.textContent.includes(body) && receipt.textContent.includes(SURVEY.digest));
  assert.deepEqual(asked, []);
});

test("a refused report is shown with its reason and posted only when somebody presses", async () => {
  const { body, ledger } = await opened({ refused: "closed" });
  assert.deepEqual([shown[0].id, asked], ["refused", []]);
  assert.ok(shown[0].textContent.includes(catalogue.error_closed));
  answer = async (_, posted) => Response.json(await expectedReceipt(posted));
  await press("again");
  assert.deepEqual(asked, [`${SURVEY.name}/reports`]);
  assert.equal(shown.at(-1).id, "receipt");
  assert.ok(shown.at(-1).textContent.includes(body));
  assert.equal((await ledger.get(KEY)).sent, true);
});

test("a report that waits is posted, and a final refusal of it is shown with its reason", async () => {
  answer = async () => Response.json({ code: "token_invalid" }, { status: 401 });
  await opened({});
  assert.deepEqual(asked, [`${SURVEY.name}/reports`]);
  assert.equal(shown[0].id, "refused");
  assert.ok(shown[0].textContent.includes(catalogue.status_token));
  assert.ok(!shown[0].textContent.includes(catalogue.again), "trying again cannot help a used link");
});

test("another link asks whose the refused report was before anything is asked for, and yes sends its bytes", async () => {
  const [first, second] = ["A".repeat(16), "B".repeat(16)];
  const { body } = await opened({ refused: "token_invalid" }, { token: second, key: [HERE, SURVEY.name, 0, first] });
  assert.deepEqual([shown[0].id, asked], ["same-person", []]);
  const posted = [];
  answer = async (_, sent) => (posted.push(sent), Response.json(await expectedReceipt(sent)));
  await press("same_person_yes");
  assert.deepEqual(posted, [body]);
  assert.equal(shown.at(-1).id, "receipt");
});
