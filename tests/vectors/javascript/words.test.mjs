import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { product, surveyOf } from "./product.mjs";

const { CATALOGUES, MECHANISMS, Words, chooseLanguage, direction, explained, parseSurvey, typedNumber } = product;
const { catalogue, catalogues, said } = JSON.parse(readFileSync(process.env.SOTTOVOCE_SENTENCES, "utf-8"));
globalThis.document = { documentElement: {}, querySelectorAll: () => [] };

async function wordsFor(device, survey = null) {
  const loaded = [];
  const words = new Words(async (tag) => loaded.push(tag) && { ...catalogue, language: tag }, device);
  await words.speak(survey);
  return { loaded, words };
}

test("the odds are told in Python's words", async () => {
  const { words } = await wordsFor(["en"]);
  const told = new Set();
  for (const { question, sentence } of said) {
    const asked = parseSurvey(surveyOf(question), "").questions[0];
    assert.equal(words.translate(...explained(asked, words)), sentence);
    told.add(asked.mechanism.name);
  }
  assert.deepEqual(told, new Set(MECHANISMS.keys()));
});

test("no placeholder stays empty", () => {
  for (const { sentence } of said) assert.doesNotMatch(sentence, /[{}]|  | [,.;]/);
});

test("the catalogues in the folder are those that the page knows", () => {
  assert.deepEqual([...CATALOGUES].sort(), [...catalogues].sort());
  assert.equal(CATALOGUES[0], "en");
});

test("a wanted language finds what is offered in its script, wherever it is spoken", () => {
  const found = [
    ["zh-CN", "zh-Hans"], ["zh-SG", "zh-Hans"], ["zh", "zh-Hans"], ["zh-TW", "zh-Hans"], ["cmn-Hans", "zh-Hans"],
    ["pt-BR", "pt"], ["pt-PT", "pt"], ["es-419", "es"], ["es-MX", "es"], ["de-CH", "de"], ["AR-eg", "ar"], ["en-GB", "en"],
    ["sw", null], ["yue", null], ["", null], ["x-klingon", null], ["not a tag", null],
  ];
  for (const [wanted, expected] of found) assert.equal(chooseLanguage(CATALOGUES, [wanted]), expected, wanted);
  assert.equal(chooseLanguage(["zh-Hans", "zh-Hant"], ["zh-HK"]), "zh-Hant");
  assert.equal(chooseLanguage(["pt", "pt-PT"], ["pt-PT"]), "pt-PT");
  assert.equal(chooseLanguage(["sr-Cyrl", "sr-Latn"], ["sr-Latn-ME"]), "sr-Latn");
  assert.equal(chooseLanguage(["fr", "en"], ["sw", "en-GB", "fr"]), "en");
});

test("scripts that run from right to left are known by their script", () => {
  const rtl = ["ar", "ar-EG", "fa", "he", "ur", "ckb", "ku-Arab", "pa-PK", "dv"];
  assert.deepEqual(rtl.map(direction), rtl.map(() => "rtl"));
  const ltr = ["en", "ku", "pa", "tr", "az", "uz", "zh-Hans", "hi", "ar-Latn", "not a tag"];
  assert.deepEqual(ltr.map(direction), ltr.map(() => "ltr"));
});

test("survey and page speak one language where they can, and one catalogue is loaded", async () => {
  const survey = (defaultLanguage, ...tags) => ({ defaultLanguage, title: Object.fromEntries(tags.map((tag) => [tag, tag])) });
  const cases = [
    // The device's languages, the survey; then the survey's title, the page's language, whether the survey lacks it.
    [["en-US", "en"], survey("en", "en"), "en", "en", false],
    [["fr-FR", "en"], survey("en", "en"), "en", "en", false],
    [["fr-FR", "en"], survey("en", "en", "fr"), "fr", "fr", false],
    [["zh-CN"], survey("en", "en"), "en", "zh-Hans", true],
    [["zh-CN"], survey("en", "en", "zh"), "zh", "zh-Hans", false],
    [["sw", "en"], survey("fr", "fr", "sw"), "sw", "en", false],
    [["sw"], survey("fr", "fr"), "fr", "fr", false],
    [["sw"], survey("yo", "yo"), "yo", "en", true],
    [[], survey("de", "de"), "de", "de", false],
    [["pt-PT", "es"], survey("es", "es", "pt-BR"), "pt-BR", "pt", false],
  ];
  for (const [device, asked, title, language, foreign] of cases) {
    const { loaded, words } = await wordsFor(device, asked);
    assert.deepEqual([words.plain(asked.title), words.language, words.foreign], [title, language, foreign], String(device));
    assert.deepEqual(loaded, [language]);
    assert.equal(document.title, title);
  }
});

test("every choice is a language of the survey or of the page, and holds for both as far as they speak it", async () => {
  const asked = { defaultLanguage: "fr", title: { fr: "f", sw: "s", "zh-CN": "z" } };
  const { words } = await wordsFor(["fr"], asked);
  assert.deepEqual(words.languages, ["fr", "sw", "zh-CN", "en", "ar", "de", "es", "hi", "it", "pt"]);
  const after = [];
  for (const tag of ["ar", "sw", "zh-CN"]) {
    await words.speak(undefined, [tag]);
    after.push([words.current, words.language, words.plain(asked.title), words.foreign]);
  }
  assert.deepEqual(after, [["ar", "ar", "f", true], ["sw", "fr", "s", false], ["zh-CN", "zh-Hans", "z", false]]);
});

test("a catalogue that does not arrive changes nothing, and the later of two choices holds", async () => {
  const waiting = new Map();
  const load = (tag) => new Promise((...ends) => waiting.set(tag, ends));
  const words = new Words(load, ["en"]);
  const began = words.speak();
  waiting.get("en")[0]({ ...catalogue });
  await began;
  const failing = words.speak(undefined, ["de"]);
  waiting.get("de")[1](new Error());
  await assert.rejects(failing);
  assert.deepEqual([words.language, words.current, document.documentElement.lang], ["en", "en", "en"]);
  const [first, second] = ["fr", "es"].map((tag) => words.speak(undefined, [tag]));
  waiting.get("es")[0]({ ...catalogue, language: "es" });
  waiting.get("fr")[0]({ ...catalogue, language: "fr" });
  await Promise.all([first, second]);
  assert.equal(words.language, "es");
  const again = words.speak(undefined, ["de"]);
  waiting.get("de")[0]({ ...catalogue, language: "de" });
  await again;
  assert.equal(words.language, "de");
});

test("numbers have the decimal sign of the reader's country and Latin digits", async () => {
  const numbers = { en: "1.10", de: "1,10", "de-CH": "1.10", fr: "1,10", "es-ES": "1,10", "es-MX": "1.10", "pt-BR": "1,10", hi: "1.10", "zh-CN": "1.10" };
  for (const [tag, shown] of Object.entries(numbers)) {
    const { words } = await wordsFor([tag]);
    assert.equal(words.translate("receipt_epsilon", { epsilon: "1.10" }).match(/\d.\d\d/)[0], shown, tag);
    assert.equal(words.translate("range", { first: "-10", last: "/a.b" }), "-10 to /a.b");
  }
  const { words } = await wordsFor(["ar-EG"]);
  assert.equal(words.translate("range", { first: "-0.5", last: "3" }), "\u2068-0.5\u2069 to \u20683\u2069");
});

test("a typed number is read as it was meant, or not at all", () => {
  const read = [
    ["0.5", ".", "0.5"], ["0,5", ".", "0.5"], ["0,5", ",", "0.5"], ["0.5", ",", "0.5"], [" 12 ", ".", "12"],
    ["1,000", ".", ""], ["1.000", ",", ""], ["-12.500", ",", ""], ["1.000", ".", "1.000"], ["1,000", ",", "1.000"], ["0,125", ".", "0.125"],
    ["1,234.5", ".", "1.234.5"], ["1.234,5", ",", "1.234.5"], ["1,2,3", ".", "1.2,3"], ["1 000", ",", "1 000"],
    ["٣٫٥", ".", "3.5"], ["۱۲۳۴۵۶۷۸۹۰", ".", "1234567890"], ["०१२३४५६७८९", ".", "123456789"], ["－１．５", ".", "-1.5"],
    ["−2", ".", "-2"], [".35", ".", "0.35"], ["-,5", ",", "-0.5"], ["5.", ".", "5"], ["+7", ".", "7"], ["007", ".", "7"],
    [".", ".", "."], ["\u200f-0.5", ".", "-0.5"], ["1e1", ".", "1e1"], ["", ".", ""], ["½", ".", "½"], ["௧", ".", "௧"],
  ];
  for (const [text, point, expected] of read) assert.equal(typedNumber(text, point), expected, text);
});
