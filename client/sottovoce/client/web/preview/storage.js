/** What the ledger uses of IndexedDB, in this page's memory: it ends with the page. */
export class PretendedStorage {
  #records = new Map();

  /** The one database. */
  open() {
    return completeRequest(() => ({ transaction: () => new PretendedTransaction(this.#records) }));
  }
}

// No other tab writes to this storage, so nothing waits and nothing is undone; it only reports completion.
class PretendedTransaction {
  #records;
  #asked = 0;
  #isOver = false;

  constructor(records) {
    this.#records = records;
    this.#endSoon();
  }

  objectStore() {
    const records = this.#records;
    const within = (range) => [...records.values()].filter(([key]) => range === undefined || range.includes(key));
    const put = (value, key) => records.set(spellKey(key), [key, value]);
    const remove = (which) => {
      const gone = which instanceof IDBKeyRange ? within(which).map(([key]) => key) : [which];
      gone.forEach((key) => records.delete(spellKey(key)));
    };
    const store = {
      get: (key) => records.get(spellKey(key))?.[1],
      getAll: (range) => within(range).map(([, value]) => value),
      getAllKeys: (range) => within(range).map(([key]) => key),
      put,
      add: put,
      delete: remove,
    };
    return Object.fromEntries(Object.entries(store).map(([name, work]) => [name, this.#ask(work)]));
  }

  abort() {
    this.#isOver = true;
    this.onabort?.();
  }

  #ask(work) {
    return (...given) => {
      this.#asked += 1;
      return completeRequest(() => work(...given), () => {
        this.#asked -= 1;
        this.#endSoon();
      });
    };
  }

  // After whatever the last answer leads to.
  #endSoon() {
    setTimeout(() => {
      if (this.#isOver || this.#asked > 0) return;
      this.#isOver = true;
      this.oncomplete?.();
    });
  }
}

// A request that tells its result a moment later, and then does the rest.
function completeRequest(work, rest = () => {}) {
  const request = {};
  Promise.resolve().then(() => {
    request.result = work();
    request.onsuccess?.();
    rest();
  });
  return request;
}

function spellKey(key) {
  return JSON.stringify(key);
}
