// What the browser's ledger uses of IndexedDB, which node does not have: in memory, with a copy on the disk after every
// transaction, so that an audit sees from outside what a browser would keep.
import { writeFileSync } from "node:fs";

/** A range of keys; in IndexedDB's order numbers come before texts, and texts before lists. */
export class KeyRange {
  constructor(lower, upper) {
    Object.assign(this, { lower, upper });
  }

  static bound = (lower, upper) => new KeyRange(lower, upper);

  includes(key) {
    return compare(this.lower, key) <= 0 && compare(key, this.upper) <= 0;
  }
}

function compare(one, other) {
  const [first, second] = [one, other].map((key) => ["number", "string", "object"].indexOf(typeof key));
  if (first !== second) return first - second;
  if (first < 2) return one < other ? -1 : Number(one > other);
  for (let place = 0; place < Math.min(one.length, other.length); place += 1) {
    const order = compare(one[place], other[place]);
    if (order !== 0) return order;
  }
  return one.length - other.length;
}

/** A factory of databases like `indexedDB`; `path` names the copy on the disk. */
export class Storage {
  #databases = new Map();

  constructor(path) {
    this.path = path;
  }

  open(name) {
    const isNew = !this.#databases.has(name);
    if (isNew) this.#databases.set(name, new Map());
    const stores = this.#databases.get(name);
    const createObjectStore = (store) => stores.set(store, new Map());
    const transaction = (_names, mode = "readonly") =>
      new Transaction(stores, () => mode === "readonly" || this.save());
    const request = { result: { createObjectStore, transaction, close: () => {} } };
    queueMicrotask(() => {
      if (isNew) request.onupgradeneeded?.({ target: request });
      request.onsuccess?.({ target: request });
    });
    return request;
  }

  save() {
    const listedStores = (found) => [...found].map(([store, records]) => [store, listed(records)]);
    const stores = [...this.#databases].map(([name, found]) => [name, listedStores(found)]);
    writeFileSync(this.path, JSON.stringify(stores));
  }
}

function listed(records) {
  return [...records.values()].sort(([one], [other]) => compare(one, other));
}

class Transaction {
  error = null;
  #before;
  #isOver = false;
  #open = 0;
  #stores;
  #save;

  constructor(stores, save) {
    [this.#stores, this.#save] = [stores, save];
    this.#before = [...stores].map(([name, records]) => [name, new Map(records)]);
    this.#settle();
  }

  objectStore(name) {
    const records = this.#stores.get(name);
    const within = (range) => listed(records).filter(([key]) => matches(range, key));
    const put = (value, key) => void records.set(JSON.stringify(key), structuredClone([key, value]));
    const work = {
      add: (value, key) => {
        if (records.has(JSON.stringify(key))) throw new DOMException("", "ConstraintError");
        put(value, key);
      },
      delete: (range) => within(range).forEach(([key]) => records.delete(JSON.stringify(key))),
      get: (key) => structuredClone(records.get(JSON.stringify(key))?.[1]),
      getAll: (range) => structuredClone(within(range).map(([, value]) => value)),
      getAllKeys: (range) => structuredClone(within(range).map(([key]) => key)),
      put,
    };
    return Object.fromEntries(Object.entries(work).map(([kind, does]) => [kind, (...given) => this.#ask(does, given)]));
  }

  abort() {
    this.#isOver = true;
    for (const [name, records] of this.#before) this.#stores.set(name, records);
    queueMicrotask(() => this.onabort?.({ target: this }));
  }

  #ask(does, given) {
    const request = {};
    this.#open += 1;
    setImmediate(() => {
      try {
        request.result = does(...given);
        request.onsuccess?.({ target: request });
      } catch (error) {
        request.error = error;
        request.onerror?.({ target: request });
      }
      this.#open -= 1;
      this.#settle();
    });
    return request;
  }

  // Complete once the last answer has led to no further request.
  #settle() {
    setImmediate(() => {
      if (this.#isOver || this.#open > 0) return;
      this.#isOver = true;
      this.#save();
      this.oncomplete?.({ target: this });
    });
  }
}

function matches(range, key) {
  if (range === undefined) return true;
  return range instanceof KeyRange ? range.includes(key) : compare(range, key) === 0;
}
