import { LoadError } from "../survey/errors.js";

/** The page's own sentences: of the parts known so far, in each language that was asked for. */
export class Catalogues {
  #load;
  #parts = new Set(["respondent"]);
  #asked = new Map();
  #sentences = new Map();

  /** `load` gives a part's sentences in a language. */
  constructor(load) {
    this.#load = load;
  }

  /** All that is known to be said in a language; a part that becomes known later is added to the same object. */
  async of(tag) {
    const sentences = this.#sentences.get(tag) ?? {};
    this.#sentences.set(tag, sentences);
    let known;
    do {
      known = this.#parts.size;
      await Promise.all([...this.#parts].map(async (part) => Object.assign(sentences, await this.#ask(tag, part))));
    } while (known < this.#parts.size);
    return sentences;
  }

  /**
   * Know a further part of the page, in this language and all that will be asked for.
   *
   * @throws {LoadError} its sentences did not arrive; calling again tries again
   */
  async learn(part, tag) {
    const isNew = !this.#parts.has(part);
    this.#parts.add(part);
    try {
      await this.of(tag);
    } catch {
      // What cannot be had must not keep the page from speaking another language.
      if (isNew) this.#parts.delete(part);
      throw new LoadError();
    }
  }

  #ask(tag, part) {
    const name = `${tag}.${part}`;
    if (!this.#asked.has(name)) this.#asked.set(name, this.#load(tag, part));
    return this.#asked.get(name).catch((error) => {
      this.#asked.delete(name);
      throw error;
    });
  }
}
