import { BudgetExhausted, DrawnElsewhere } from "../survey/errors.js";
import { arrived, below, completed, isEarly, isWaiting, personalBeside, settled } from "./entries.js";
import { surveyKey, unacceptedBeside, withoutSignature } from "./entries.js";
import { sum } from "../survey/rational.js";

const DATABASE = "sottovoce";
const STORE = "reports";

/**
 * What this browser remembers, in IndexedDB. Without it nothing may be drawn: a reload would be a second draw.
 * A key is [origin, survey, wave, token]; an entry is `{ digest, epsilon, body, sent }`: never an answer. `refused` is
 * the aggregator's last word on a report that it did not take: nothing but the receipt for these very bytes clears it,
 * and nothing ever frees a key. Where the report was `ended`, "withdrawn" or "forgotten", body is null and the entry
 * only keeps a second one from being drawn. A `copy` holds the bytes of another key, and costs nothing of its own.
 *
 * Beside the entries lies each survey that one of them was drawn for: its canonical text, under ["survey", digest].
 */
export class BrowserLedger {
  #database;

  constructor(database) {
    this.#database = database;
  }

  /** The ledger of this name, made if there is none. Where a browser forbids it, to name the factory may throw. */
  static async open(factory = null, name = DATABASE) {
    try {
      const request = (factory ?? globalThis.indexedDB).open(name, 1);
      request.onupgradeneeded = () => request.result.createObjectStore(STORE);
      const database = await settled(request);
      database.onversionchange = () => database.close();
      return new BrowserLedger(database);
    } catch {
      throw new BudgetExhausted("error_no_ledger");
    }
  }

  /** The entry, or null. */
  async get(key) {
    return this.#within("readonly", (store) => settled(store.get(key))).then((entry) => entry ?? null);
  }

  /** The key under which something was drawn for a link: with its token, or with none; null if nothing was. */
  async find([origin, survey, wave, token]) {
    for (const key of [[origin, survey, wave, token], [origin, survey, wave, ""]]) {
      if ((await this.get(key)) !== null) return key;
    }
    return null;
  }

  /** The canonical text of the survey with this digest, while a report of it is here; else null. */
  async surveyText(digest) {
    return this.get(surveyKey(digest));
  }

  /**
   * The entry that stands for `key` from now on: an earlier one if there is one, else `entry`, durably, and with it the
   * canonical `text` of its survey.
   *
   * Write transactions on one store wait for each other, so of two tabs the first adds and the second finds.
   *
   * @throws {DrawnElsewhere} with `isOnlyOne`: a report lies here that was drawn with another token, and not accepted
   * @throws {BudgetExhausted} for a key without a token, a report of the wave was drawn with one: an aggregator that
   *   turns a survey for invited people into one for all would else be given a second draw
   */
  async record(key, entry, text = null, isOnlyOne = false) {
    return this.#within("readwrite", async (store) => {
      const earlier = await settled(store.get(key));
      if (earlier !== undefined) return earlier;
      if (await personalBeside(store, key)) throw new BudgetExhausted("error_personal");
      const [other] = isOnlyOne ? await unacceptedBeside(store, key) : [];
      if (other !== undefined) throw new DrawnElsewhere(other);
      if (text !== null) await settled(store.put(text, surveyKey(entry.digest)));
      await settled(store.add(entry, key));
      return entry;
    });
  }

  /**
   * The set of questions drawn for `key` from this pool: an earlier one if there is one, else what `draw` gives,
   * durably. It lies beside the report, under a longer key, and goes when that ends.
   */
  async prepare(key, pool, draw) {
    const own = [...key, pool];
    return ((await this.get(own)) ?? (await this.record(own, { drawn: draw(), epsilon: 0 }))).drawn;
  }

  /** [key, entry] of each report for this aggregator that is to be sent now, without being asked: none refused. */
  async waiting(origin) {
    const all = await this.#within("readonly", (store) => below(store, [origin]));
    return all.filter(([, entry]) => isWaiting(entry) && !entry.refused && !isEarly(entry));
  }

  /** The keys of reports drawn here for this survey and wave with other tokens, and never acknowledged. */
  async unaccepted(key) {
    return this.#within("readonly", (store) => unacceptedBeside(store, key));
  }

  /**
   * Copy the entry under `other` to `key`, because the person says that it is theirs: the same bytes, in one write. The
   * other key keeps its own, so that neither link ever buys a second draw.
   */
  async rebind(other, key) {
    return this.#within("readwrite", async (store) => {
      const earlier = await settled(store.get(key));
      if (earlier !== undefined) return earlier;
      const copy = { ...(await settled(store.get(other))), copy: true };
      await settled(store.add(copy, key));
      return copy;
    });
  }

  /** Put `after` in the place of `before`, the body of an entry that is never sent; whether no other tab was faster. */
  async revise(key, before, after) {
    return this.#within("readwrite", async (store) => {
      const entry = await settled(store.get(key));
      if (entry?.body !== before) return false;
      await settled(store.put({ ...entry, body: after }, key));
      return true;
    });
  }

  /** Note that the moment has come: from now on the report may have been sent. */
  async markDue(key) {
    await this.#changeCopies(key, (entry) => ({ ...entry, sendAt: 0 }));
  }

  /** Note that the aggregator has acknowledged the report: these bytes, under whichever keys they lie. */
  async markSent(key) {
    await this.#changeCopies(key, arrived);
  }

  /** Note that the aggregator will not take the report, and why; an acknowledgement that came first stands. */
  async markRefused(key, reason) {
    await this.#within("readwrite", async (store) => {
      const entry = await settled(store.get(key));
      if (isWaiting(entry)) await settled(store.put({ ...entry, refused: reason }, key));
    });
  }

  /** Wipe the report and all its copies, and keep that there was one; `ended` says why. */
  async end(key, ended, isWanted = () => true) {
    const over = (entry) => ({ ...withoutSignature(entry), body: null, ended });
    return this.#changeCopies(key, over, isWanted, async (store, copies) => {
      for (const [copy] of copies) await settled(store.delete(IDBKeyRange.bound([...copy, ""], [...copy, []])));
      const [[, { digest }]] = copies;
      const isNeeded = ({ body, digest: other }) => other === digest && typeof body === "string";
      if (!(await settled(store.getAll())).some(isNeeded)) await settled(store.delete(surveyKey(digest)));
    });
  }

  /**
   * The same, where the report waits for its moment; whether it did. Of two tabs one notes first that the moment has
   * come, or that it never will.
   */
  async endUntried(key, ended) {
    return this.end(key, ended, ({ sendAt }) => Boolean(sendAt));
  }

  /** The last work on the store in this visit, durably: what comes after it is refused. */
  async close(work) {
    await this.#within("readwrite", work);
    this.#database.close();
  }

  /** Total epsilon of all reports drawn for this aggregator, also of those that ended. */
  async spent(origin) {
    const all = await this.#within("readonly", (store) => below(store, [origin]));
    return sum(all.map(([, { copy, epsilon }]) => (copy ? 0 : epsilon)));
  }

  // Change an entry and all that hold the same bytes, in one transaction; `finish` does the rest of it.
  async #changeCopies(key, change, isWanted = () => true, finish = async () => {}) {
    return this.#within("readwrite", async (store) => {
      const own = await settled(store.get(key));
      if (own === undefined || !isWanted(own)) return false;
      const all = await below(store, key.slice(0, 3));
      const others = all.filter(([other, { body }]) => String(other) !== String(key) && body && body === own.body);
      const copies = [...others, [key, own]];
      for (const [copy, entry] of copies) await settled(store.put(change(entry), copy));
      await finish(store, copies);
      return true;
    });
  }

  async #within(mode, work) {
    try {
      const transaction = this.#database.transaction(STORE, mode, { durability: "strict" });
      const done = work(transaction.objectStore(STORE)).catch((error) => {
        // What was written before the failure is undone: a write is whole or it is not.
        transaction.abort();
        throw error;
      });
      const [result] = await Promise.all([done, completed(transaction)]);
      return result;
    } catch (error) {
      throw error instanceof BudgetExhausted ? error : new BudgetExhausted("error_no_ledger");
    }
  }
}
