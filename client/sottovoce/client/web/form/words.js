import { Catalogues } from "./catalogues.js";
import { element, nameCells } from "./dom.js";
import { explained } from "./odds_words.js";
import { RARE_SENTENCES } from "../survey/known.js";
import { chooseLanguage, decimalPoint, direction } from "../survey/languages.js";

/** The languages in which the page itself speaks, one catalogue each. */
export const CATALOGUES = ["en", "ar", "de", "es", "fr", "hi", "it", "pt", "zh-Hans"];

const ISOLATE = ["\u2068", "\u2069"];

/**
 * What the page says: its own sentences from a catalogue, and the survey's texts, both in the reader's language where
 * they have it. Whatever was said is said again, in place, when another language is chosen.
 */
export class Words {
  #device;
  #catalogues;
  #catalogue = null;
  #survey = null;
  #preferred = [];
  #current = "";
  #spoken = "";
  /** What stands before the tenths. */
  point = ".";
  /** Sentences that few surveys need, by language and key, once their part has come. */
  rare = RARE_SENTENCES;
  #turn = 0;
  #heading = null;
  #nodes = new Set();
  #sources = new WeakMap();

  /**
   * `load` gives the sentences of a language; `device` are the languages that the device asks for, best first, and
   * `chosen` one that was chosen on this page before it was loaded again.
   */
  constructor(load, device, chosen = []) {
    this.#catalogues = new Catalogues(load);
    this.#device = device;
    this.#preferred = chosen;
    // Where every survey would lead to the same catalogue, it need not wait for the survey.
    const wanted = chosen.length ? chosen : device;
    const likely = new Set(wanted.map((tag) => chooseLanguage(CATALOGUES, [tag])).filter(Boolean));
    if (likely.size === 1) this.#catalogues.of([...likely][0]).catch(() => {});
  }

  /** The language of the page's sentences; undefined before there are any. */
  get language() {
    return this.#catalogue?.language;
  }

  /** Every language that can be chosen, those of the survey first. */
  get languages() {
    const titles = titlesOf(this.#survey);
    return [...titles, ...CATALOGUES.filter((tag) => chooseLanguage(titles, [tag]) === null)];
  }

  /** The one of them that is spoken, as far as survey and page speak it. */
  get current() {
    return chooseLanguage(this.languages, [this.#current]);
  }

  /** Whether the survey itself lacks that language. */
  get foreign() {
    return this.#survey !== null && chooseLanguage(titlesOf(this.#survey), [this.#current]) === null;
  }

  /**
   * Speak about this survey, or about none, in the reader's language: the first that the survey speaks, else the first
   * that the page speaks. One catalogue is loaded; where that fails, so does this, and nothing has changed.
   */
  async speak(survey = this.#survey, preferred = this.#preferred) {
    const wanted = [...preferred, ...this.#device];
    const shared = chooseLanguage(titlesOf(survey), wanted);
    const heard = [...preferred, shared, ...this.#device, survey?.defaultLanguage].filter(Boolean);
    const turn = (this.#turn += 1);
    const catalogue = await this.#catalogues.of(chooseLanguage(CATALOGUES, heard) ?? CATALOGUES[0]);
    // Two catalogues may arrive in any order; the language chosen last wins.
    if (turn !== this.#turn) return;
    [this.#catalogue, this.#survey, this.#preferred] = [catalogue, survey, preferred];
    this.#current = preferred[0] ?? shared ?? catalogue.language;
    this.#spoken = shared ?? survey?.defaultLanguage;
    this.#mark(wanted);
    this.#sayAgain();
    this.entitle();
  }

  // What the document and its numbers show of the language.
  #mark(wanted) {
    const tag = wanted.find((one) => chooseLanguage([this.language], [one])) ?? this.language;
    this.point = decimalPoint(tag);
    Object.assign(document.documentElement, { lang: this.language, dir: direction(this.language) });
  }

  /** Name the step by its heading in the title of the page, beside the survey's; a neutral title stays as it is. */
  entitle(heading = this.#heading) {
    this.#heading = heading;
    if (this.#survey === null) return;
    const { neutralTitle, title } = this.#survey;
    const names = [neutralTitle ? "" : heading?.textContent, this.plain(neutralTitle ?? title)];
    document.title = [...new Set(names.filter(Boolean))].join(" – ");
  }

  /** One sentence of the page, its placeholders filled; by what a function gives, where that is in a language too. */
  translate(key, values = {}) {
    const rare = [...this.rare].map((sentences) => sentences[this.language]).find((sentences) => sentences[key]);
    const sentence = this.#catalogue[key] ?? rare?.[key] ?? this.#catalogue.error_unexpected;
    // Within text that runs from right to left, "-1" or a path would be torn apart.
    const [before, after] = document.documentElement.dir === "rtl" ? ISOLATE : ["", ""];
    return sentence.replace(/\{(\w+)\}/g, (_, name) => before + this.#shown(values[name]) + after);
  }

  /** An element with one sentence of the page; where values are words themselves, a function gives them. */
  line(tag, key, values = {}, properties = {}) {
    const given = () => (typeof values === "function" ? values() : values);
    return this.#live(tag, properties, () => [this.language, this.translate(key, given())]);
  }

  /** One sentence of the page, ready to be put inside something. */
  node(key, values = {}) {
    return this.line("span", key, values);
  }

  /** An element with one of the survey's texts, marked where it is not in the language of the page. */
  text(tag, texts, properties = {}) {
    return this.#live(tag, properties, () => {
      const language = this.#languageOf(texts);
      return [language, texts[language]];
    });
  }

  /** One of the survey's texts as a string. */
  plain(texts) {
    return texts[this.#languageOf(texts)];
  }

  /** A number, as readers of this language write it. */
  number(text) {
    return this.#live("bdi", {}, () => [this.language, this.#shown(text)]);
  }

  /** The odds of a question in words, from its channel; or that it has none. */
  odds(question) {
    const named = () => (question.neutral ? this.translate("gap") + this.translate("neutral_note") : "");
    return this.#live("span", {}, () => [this.language, this.translate(...explained(question, this)) + named()]);
  }

  /** Whether the page has a sentence under this key. */
  has(key) {
    return key in this.#catalogue;
  }

  // Latin digits in every language, as in the bytes that are sent; only the decimal sign is the language's.
  #shown(value = "") {
    const text = String(typeof value === "function" ? value() : value);
    return text.replace(/^(-?\d+)\.(?=\d+$)/, (_, whole) => whole + this.point);
  }

  #languageOf(texts) {
    if (Object.hasOwn(texts, this.#spoken)) return this.#spoken;
    return chooseLanguage(Object.keys(texts), [...this.#preferred, ...this.#device]) ?? this.#survey.defaultLanguage;
  }

  #live(tag, properties, source) {
    const node = element(tag, properties, "");
    this.#sources.set(node, source);
    // Held weakly, so that a step that is gone is gone.
    this.#nodes.add(new WeakRef(node));
    this.#show(node);
    return node;
  }

  #show(node) {
    const [language, text] = this.#sources.get(node)();
    node.firstChild.data = text;
    const foreign = language !== this.language;
    for (const [name, value] of [["lang", language], ["dir", direction(language)]]) {
      if (foreign) node.setAttribute(name, value);
      else node.removeAttribute(name);
    }
  }

  #sayAgain() {
    for (const reference of this.#nodes) {
      const node = reference.deref();
      if (node) this.#show(node);
      else this.#nodes.delete(reference);
    }
    document.querySelectorAll?.("table").forEach(nameCells);
  }
}

function titlesOf(survey) {
  return Object.keys(survey?.title ?? {});
}
