// What the form prints of surveys, as a list of text nodes for each page: from the modules in the folder of the first
// argument; the second is a file with `surveys` (documents), `sentences` by key, and lists of values in `reports`.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { FakeIndexedDB, FakeKeyRange } from "../vectors/javascript/indexeddb.mjs";

class Node {
  children = [];
  dataset = {};
  style = {};
  classList = { toggle() {} };
  constructor(tag) {
    this.tag = tag;
  }
  append(...nodes) {
    this.children.push(...nodes.map((node) => (typeof node === "string" ? { data: node } : node)));
  }
  replaceChildren(...nodes) {
    this.children = [];
    this.append(...nodes);
  }
  listeners = {};
  setAttribute() {}
  removeAttribute() {}
  addEventListener(event, work) {
    this.listeners[event] = work;
  }
  get firstChild() {
    return this.children[0];
  }
  get textContent() {
    return this.children.map((child) => child.data ?? child.textContent).join("");
  }
  get cells() {
    return this.children;
  }
  get rows() {
    return this.all("tr");
  }
  querySelector(tag) {
    return this.children.flatMap((child) => child.all?.(tag) ?? [])[0] ?? null;
  }
  all(tag) {
    const inside = this.children.flatMap((child) => child.all?.(tag) ?? []);
    return this.tag === tag ? [this, ...inside] : inside;
  }
}

const made = (tag) => new Node(tag);
globalThis.document = {
  documentElement: {}, createElement: made, createElementNS: (_, tag) => made(tag), querySelectorAll: () => [],
  addEventListener() {},
};
globalThis.location = { hash: "", protocol: "https:" };
globalThis.history = { replaceState: (_, __, hash) => (globalThis.location.hash = hash) };
Object.assign(globalThis, { IDBKeyRange: FakeKeyRange, addEventListener() {}, setTimeout: () => 0 });

const textsOf = (node) =>
  (node.data === undefined ? node.children.flatMap(textsOf) : [node.data]).filter((text) => text.trim());
const [, , folder, file] = process.argv;
const load = (path) => import(pathToFileURL(join(folder, path)));
const { surveys, sentences, reports } = JSON.parse(readFileSync(file, "utf-8"));
const { bringReaders } = await load("survey/bring.js");
const { parseSurvey } = await load("survey/parse_survey.js");
const { Words } = await load("form/words.js");
const { explanationStep } = await load("form/steps/explanation.js");
const { receiptParts, receiptStep } = await load("form/steps/receipt.js");
const { howItWorks, limitsList } = await load("form/folds.js");
const { blindNotes } = await load("form/steps/later.js");

// What a device that is handed round prints: before the first code, before Begin, and on each receipt.
async function handedRound(survey, words, sent) {
  const code = survey.access === "open" ? "1234" : "A".repeat(16);
  globalThis.location.hash = survey.access === "open" ? `#staff=${code}` : "";
  globalThis.indexedDB = new FakeIndexedDB();
  const shown = [];
  const view = { show: (step) => shown.push(step), guarded: (work) => work() };
  const { receivePeople } = await load("form/kiosk.js");
  const shell = { survey, transport: { origin: "https://a.example" } };
  let person = null;
  await receivePeople(shell, words, view, (respondent) => (person = respondent));
  const [{ node }] = shown;
  const [start] = node.all("form");
  start.querySelector("input").value = code;
  await start.listeners.submit({ preventDefault() {} });
  const last = person.kiosk.lastStep(receiptParts);
  const receipts = sent.map((each) => textsOf(last(survey, words, each, false, 0, () => {}).node));
  return { code: textsOf(node), notes: person.kiosk.notes().flatMap(textsOf), receipts };
}

const printed = [];
for (const [index, document] of surveys.entries()) {
  await bringReaders(document);
  const survey = parseSurvey(document, "");
  const words = new Words(async () => sentences, [sentences.language]);
  await words.speak(survey);
  const notes = survey.isBlind || survey.isDelayed ? blindNotes(survey, words) : [];
  const { closes = null } = (document.waves ?? [document])[0];
  const page = (kind, date = null) => {
    const known = { hasDigest: true, notes, spent: 0, status: { kind, date } };
    return textsOf(explanationStep(survey, words, known, () => {}).node);
  };
  const folds = [...(survey.private.length ? [await howItWorks(words, survey, 0)] : []), limitsList(words, survey)];
  const sent = reports[index].map((values) => {
    const body = JSON.stringify({ format: "sottovoce-report/1", survey: "", digest: "", wave: 0, report_id: "", values });
    return { body, sha256: "", digest: "", report_id: "" };
  });
  printed.push({
    begin: page("open", closes), closed: page("closed"), used: page("token"), folds: folds.flatMap(textsOf),
    receipts: sent.map((each) => textsOf(receiptStep(survey, words, each, false, 0, () => {}).node)),
    kiosk: document.kiosk ? await handedRound(survey, words, sent) : null,
  });
}
console.log(JSON.stringify(printed));
