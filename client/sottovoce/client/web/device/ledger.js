import { BudgetExhausted } from "../survey/errors.js";
import { sum } from "../survey/rational.js";

const DATABASE = "sottovoce";
const STORE = "reports";

/**
 * The report drawn earlier for `key`, or null.
 *
 * A key is [origin, survey, wave, token]; an entry is `{ digest, epsilon, body, sent }`: never an answer. Where the
 * report was `ended`, "withdrawn" or "forgotten", body is null and the entry only keeps a second one from being drawn.
 *
 * @throws {BudgetExhausted} one was drawn for another text of the survey; a revision buys no second draw
 */
export async function recorded(ledger, key, digest) {
  const entry = await ledger.get(key);
  if (entry !== null && entry.digest !== digest) throw new BudgetExhausted("error_other_version");
  return entry;
}

/** What this browser remembers, in IndexedDB. Without it nothing may be drawn: a reload would be a second draw. */
export class BrowserLedger {
  #database;

  constructor(database) {
    this.#database = database;
  }

  /** The ledger of this origin, made if there is none. */
  static async open(factory = globalThis.indexedDB) {
    try {
      const request = factory.open(DATABASE, 1);
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

  /**
   * The entry that stands for `key` from now on: an earlier one if there is one, else `entry`, durably.
   *
   * Write transactions on one store wait for each other, so of two tabs the first adds and the second finds.
   */
  async record(key, entry) {
    return this.#within("readwrite", async (store) => {
      const earlier = await settled(store.get(key));
      if (earlier === undefined) await settled(store.add(entry, key));
      return earlier ?? entry;
    });
  }

  /**
   * The set of questions drawn for `key` and this text of the survey: an earlier one if there is one, else `drawn`,
   * durably. It lies beside the report, under a longer key, and goes when that ends.
   */
  async prepare(key, digest, drawn) {
    const kept = await this.record([...key, digest], { drawn, epsilon: 0 });
    return kept.drawn;
  }

  /** [key, entry] of each report for this aggregator that is drawn and not acknowledged. */
  async waiting(origin) {
    // Every key that begins with the origin: a list sorts after any text.
    const range = IDBKeyRange.bound([origin], [origin, []]);
    const [keys, entries] = await this.#within("readonly", (store) =>
      Promise.all([settled(store.getAllKeys(range)), settled(store.getAll(range))]),
    );
    const all = keys.map((key, index) => [key, entries[index]]);
    return all.filter(([, { body, sent }]) => sent === false && typeof body === "string");
  }

  /** Note that the aggregator has acknowledged the report. */
  async markSent(key) {
    await this.#change(key, { sent: true });
  }

  /** Wipe the report and keep that there was one; `ended` says why. */
  async end(key, ended) {
    await this.#change(key, { body: null, ended });
    await this.#within("readwrite", (store) => settled(store.delete(IDBKeyRange.bound([...key, ""], [...key, []]))));
  }

  /** Total epsilon of all reports drawn for this aggregator, also of those that ended. */
  async spent(origin) {
    // Every key that begins with the origin: a list sorts after any text.
    const keys = IDBKeyRange.bound([origin], [origin, []]);
    const entries = await this.#within("readonly", (store) => settled(store.getAll(keys)));
    return sum(entries.map((entry) => entry.epsilon));
  }

  async #change(key, changes) {
    await this.#within("readwrite", async (store) => {
      const entry = await settled(store.get(key));
      if (entry !== undefined) await settled(store.put({ ...entry, ...changes }, key));
    });
  }

  async #within(mode, work) {
    try {
      const transaction = this.#database.transaction(STORE, mode, { durability: "strict" });
      const [result] = await Promise.all([work(transaction.objectStore(STORE)), completed(transaction)]);
      return result;
    } catch {
      throw new BudgetExhausted("error_no_ledger");
    }
  }
}

function settled(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

// Only a completed transaction is on the disk; a request that succeeded may still be undone.
function completed(transaction) {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
}
