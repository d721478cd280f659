import { element } from "./dom.js";

const RIGHT_TO_LEFT = /^(ar|ckb|dv|fa|he|ps|sd|ug|ur|yi)(-|$)|-(Arab|Hebr)(-|$)/i;

/** What the page says: its own sentences from the catalogue, and the survey's texts in the reader's language. */
export class Words {
  #catalogue;

  constructor(catalogue) {
    this.#catalogue = catalogue;
    this.language = catalogue.language;
    this.fallback = catalogue.language;
  }

  /** Take the first of the reader's languages that the survey speaks, else its default language. */
  speak(survey, languages) {
    this.fallback = survey.defaultLanguage;
    this.language = chooseLanguage(Object.keys(survey.title), languages) ?? survey.defaultLanguage;
    document.documentElement.lang = this.language;
    document.documentElement.dir = direction(this.language);
  }

  /** One sentence of the page, its placeholders filled. */
  say(key, values = {}) {
    const sentence = this.#catalogue[key] ?? this.#catalogue.error_unexpected;
    return sentence.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
  }

  /** An element with one sentence of the page; it says so where the survey speaks another language. */
  said(tag, key, values = {}, properties = {}) {
    return this.#marked(tag, this.#catalogue.language, this.say(key, values), properties);
  }

  /** One sentence of the page, ready to be put inside something. */
  node(key, values = {}) {
    return this.said("span", key, values);
  }

  /** An element with one of the survey's texts, marked with the language it is really in. */
  text(tag, texts, properties = {}) {
    const language = Object.hasOwn(texts, this.language) ? this.language : this.fallback;
    return this.#marked(tag, language, texts[language], properties);
  }

  /** One of the survey's texts as a string. */
  plain(texts) {
    return texts[this.language] ?? texts[this.fallback];
  }

  /** The label of the option with this index. */
  option(question, index) {
    if (question.type === "boolean") return this.node(question.options[index]);
    return this.text("span", question.choices[index].label);
  }

  /** The odds of a question in words, from its channel; or that it has none. */
  odds(question) {
    return this.node(...this.explained(question));
  }

  /** The sentence about the odds, and what fills its placeholders. */
  explained({ cohort, mechanism }) {
    if (mechanism === null) return [cohort ? "cohort_note" : "public_note"];
    const numbers = Object.entries(mechanism.explain());
    const values = numbers.map(([name, number]) => [name, typeof number === "number" ? number : this.share(...number)]);
    return [`odds_${mechanism.name}`, Object.fromEntries(values)];
  }

  /** How many of 100 people; "about 0" and "about 100" would claim a certainty that no channel gives. */
  share(part, whole) {
    if ((part * 100) % whole === 0) return String((part * 100) / whole);
    const number = Math.floor((part * 200 + whole) / (2 * whole));
    if (number === 0) return this.say("fewer_than_one");
    return this.say(number === 100 ? "more_than_99" : "about", { number });
  }

  #marked(tag, language, text, properties) {
    const foreign = language === this.language ? {} : { lang: language, dir: direction(language) };
    return element(tag, { ...foreign, ...properties }, text);
  }
}

/** The first wanted language that is offered, exactly or by its first part; null if none is. */
export function chooseLanguage(offered, wanted) {
  for (const tag of wanted.map((language) => language.toLowerCase())) {
    const primary = (language) => language.toLowerCase().split("-")[0];
    const match =
      offered.find((candidate) => candidate.toLowerCase() === tag) ??
      offered.find((candidate) => primary(candidate) === primary(tag));
    if (match) return match;
  }
  return null;
}

function direction(language) {
  return RIGHT_TO_LEFT.test(language) ? "rtl" : "ltr";
}
