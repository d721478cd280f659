/** The page's own sentences in each language that was asked for. */
export class Catalogues {
  #load;
  #asked = new Map();

  /** `load` gives the sentences of a language. */
  constructor(load) {
    this.#load = load;
  }

  /** All sentences in a language; what did not arrive is asked for again the next time. */
  of(tag) {
    if (!this.#asked.has(tag)) this.#asked.set(tag, this.#load(tag));
    return this.#asked.get(tag).catch((error) => {
      this.#asked.delete(tag);
      throw error;
    });
  }
}
