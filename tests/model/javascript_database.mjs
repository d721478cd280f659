// IndexedDB for one run of an audit: in memory, as the standard has it in all that a page can see, and every change of
// it is told. What is written is kept as bytes, so that two values are the same only if nothing tells them apart.
import { deserialize, serialize } from "node:v8";

const later = globalThis.setImmediate;
// A text is its own best form, and the longest of what is kept. Plain values are JSON, since other bytes tell how the
// engine holds a number, which is another way from run to run; what JSON does not tell apart begins with another byte.
const written = (value) => {
  if (typeof value === "string") return `t${value}`;
  return isPlain(value) ? `j${JSON.stringify(value)}` : serialize(value).toString("latin1");
};
const READERS = { t: (bytes) => bytes.slice(1), j: (bytes) => JSON.parse(bytes.slice(1)) };
const deserialized = (bytes) => deserialize(Buffer.from(bytes, "latin1"));
const read = (bytes) => (READERS[bytes[0]] ?? deserialized)(bytes);

function isPlain(value) {
  if (value === null || ["string", "boolean"].includes(typeof value)) return true;
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== "object") return false;
  const keys = Reflect.ownKeys(value);
  if (Array.isArray(value)) return keys.length === value.length + 1 && value.every(isPlain);
  const isOurs = Object.getPrototypeOf(value) === Object.prototype && !keys.includes("toJSON");
  return isOurs && keys.every((key) => typeof key === "string" && key !== "__proto__" && isPlain(value[key]));
}

/** A range of keys. */
export class KeyRange {
  constructor(lower, upper, lowerOpen, upperOpen) {
    this.lower = lower;
    this.upper = upper;
    this.lowerOpen = lowerOpen;
    this.upperOpen = upperOpen;
  }
  static bound = (lower, upper, lowerOpen = false, upperOpen = false) =>
    new KeyRange(lower, upper, lowerOpen, upperOpen);
  static only = (key) => new KeyRange(key, key, false, false);
  static lowerBound = (key, open = false) => new KeyRange(key, undefined, open, false);
  static upperBound = (key, open = false) => new KeyRange(undefined, key, false, open);
}

/** Numbers, then texts, then lists, item by item, as the standard orders keys. */
export function compareKeys(one, other) {
  const first = rank(one);
  const second = rank(other);
  if (first !== second) return first - second;
  if (first < 2) return one < other ? -1 : Number(one > other);
  const places = Math.min(one.length, other.length);
  for (let place = 0; place < places; place += 1) {
    const order = compareKeys(one[place], other[place]);
    if (order !== 0) return order;
  }
  return one.length - other.length;
}

function rank(key) {
  if (Array.isArray(key)) return 2;
  if (typeof key === "string") return 1;
  if (typeof key === "number" && !Number.isNaN(key)) return 0;
  throw new DOMException("", "DataError");
}

// A key that nobody else holds.
function copied(key) {
  return rank(key) === 2 ? key.map(copied) : key;
}

// How many of the records, which stand in the order of their keys, are below a key; with `isThrough`, or have it.
function countBelow(records, key, isThrough) {
  let from = 0;
  let to = records.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    const order = compareKeys(records[middle][0], key);
    if (order < 0 || (isThrough && order === 0)) from = middle + 1;
    else to = middle;
  }
  return from;
}

function recordsWithin(records, range) {
  if (range === undefined) return records;
  const { lower, upper, lowerOpen, upperOpen } = rangeOf(range);
  const from = lower === undefined ? 0 : countBelow(records, lower, lowerOpen);
  return records.slice(from, upper === undefined ? records.length : countBelow(records, upper, !upperOpen));
}

/**
 * All databases of one browser; `tell(what, key, bytes)` hears of each change as it is made, `step()` just before and
 * just after a change comes on the disk.
 */
export class Databases {
  #found = new Map();
  #waiting = [];
  #tell;
  #step;

  constructor(tell, step = () => {}) {
    [this.#tell, this.#step] = [tell, step];
  }

  /** Whether some transaction is under way. */
  get isBusy() {
    return this.#waiting.length > 0;
  }

  /** Everything that is on the disk: [database, store, key, bytes], in the order of names and keys. */
  dump() {
    const [first] = this.#waiting;
    return first instanceof Transaction ? first.without(() => this.#dump()) : this.#dump();
  }

  #dump() {
    const told = [];
    for (const [name, stores] of this.#found) {
      for (const [store, records] of stores) {
        for (const [, bytes, spelled] of records) told.push([name, store, spelled, bytes]);
      }
    }
    return told;
  }

  /** Keep what was dumped, and nothing else. */
  restore(dumped) {
    this.#found = new Map();
    for (const [name, store, key, bytes] of dumped) {
      if (!this.#found.has(name)) this.#found.set(name, new Map());
      const stores = this.#found.get(name);
      if (!stores.has(store)) stores.set(store, []);
      stores.get(store).push([JSON.parse(key), bytes, key]);
    }
    const inOrder = ([one], [other]) => compareKeys(one, other);
    for (const stores of this.#found.values()) for (const records of stores.values()) records.sort(inOrder);
  }

  open(name) {
    const isNew = !this.#found.has(String(name));
    if (isNew) this.#found.set(String(name), new Map());
    const stores = this.#found.get(String(name));
    const request = { result: this.#database(stores) };
    this.#soon(() => {
      if (isNew) request.onupgradeneeded?.({ target: request, oldVersion: 0 });
      request.onsuccess?.({ target: request });
    });
    return request;
  }

  deleteDatabase(name) {
    this.#tell("delete", String(name), "");
    this.#found.delete(String(name));
    const request = {};
    this.#soon(() => request.onsuccess?.({ target: request }));
    return request;
  }

  databases = async () => [...this.#found.keys()].map((name) => ({ name, version: 1 }));

  cmp = compareKeys;

  #database(stores) {
    const createObjectStore = (name) => {
      this.#tell("store", String(name), "");
      stores.set(String(name), []);
      return {};
    };
    const transaction = (_names, mode = "readonly", options = {}) => {
      const made = new Transaction(stores, mode, this.#tell, this.#step);
      if (mode === "readwrite") this.#tell("transaction", "", JSON.stringify(options));
      this.#waiting.push(made);
      if (this.#waiting.length === 1) later(() => this.#turn());
      return made;
    };
    const objectStoreNames = { contains: (name) => stores.has(name) };
    return { createObjectStore, transaction, close: () => {}, objectStoreNames };
  }

  #soon(work) {
    const token = { step: () => (work(), false) };
    this.#waiting.push(token);
    if (this.#waiting.length === 1) later(() => this.#turn());
  }

  // One request at a time, and one transaction after the other: a schedule that the standard allows. Between two turns
  // everything that the page does about a request's outcome is done.
  #turn() {
    const isMore = this.#waiting[0].step();
    if (!isMore) this.#waiting.shift();
    if (this.#waiting.length > 0) later(() => this.#turn());
  }
}

class Transaction {
  error = null;
  #step;
  #stores;
  #before;
  #mode;
  #tell;
  #work = [];
  #state = "active";

  constructor(stores, mode, tell, step) {
    [this.#stores, this.#mode, this.#tell, this.#step] = [stores, mode, tell, step];
  }

  objectStore(name) {
    if (!this.#stores.has(name)) throw new DOMException("", "NotFoundError");
    const within = (range) => recordsWithin(this.#stores.get(name), range);
    const store = { put: (value, key) => this.#put(name, key, written(value)) };
    store.add = (value, key) => {
      const bytes = written(value);
      return this.#ask(() => {
        if (within(key).length > 0) throw new DOMException("", "ConstraintError");
        this.#write(name, key, bytes);
        return key;
      }, true);
    };
    store.delete = (range) => this.#ask(() => this.#remove(name, within(range)), true);
    store.clear = () => this.#ask(() => this.#remove(name, within()), true);
    const first = (range) => within(range)[0];
    store.get = (range) => this.#ask(() => first(range) && read(first(range)[1]));
    store.getKey = (range) => this.#ask(() => first(range) && copied(first(range)[0]));
    store.getAll = (range) => this.#ask(() => within(range).map(([, bytes]) => read(bytes)));
    store.getAllKeys = (range) => this.#ask(() => within(range).map(([key]) => copied(key)));
    store.count = (range) => this.#ask(() => within(range).length);
    return store;
  }

  abort() {
    if (this.#state !== "active") throw new DOMException("", "InvalidStateError");
    this.#state = "aborted";
    this.#tell("abort", "", "");
  }

  /** Do the next thing that was asked; whether there may be more. */
  step() {
    if (this.#state === "aborted") return this.#end("abort", () => this.#undo());
    const work = this.#work.shift();
    if (work === undefined) return this.#commit();
    work();
    return true;
  }

  /** What `look()` gives where nothing of this is on the disk that is not committed. */
  without(look) {
    const now = [...this.#stores];
    this.#undo();
    const seen = look();
    for (const [name, records] of now) this.#stores.set(name, records);
    return seen;
  }

  #commit() {
    if (this.#before !== undefined) {
      this.#step();
      this.#before = undefined;
      this.#step();
    }
    return this.#end("complete", () => {});
  }

  #end(event, work) {
    this.#state = "over";
    work();
    this[`on${event}`]?.({ target: this });
    return false;
  }

  #undo() {
    for (const [name, records] of this.#before ?? []) this.#stores.set(name, records);
  }

  #ask(work, changes = false) {
    if (this.#state !== "active") throw new DOMException("", "TransactionInactiveError");
    if (changes && this.#mode !== "readwrite") throw new DOMException("", "ReadOnlyError");
    const request = {};
    this.#work.push(() => {
      try {
        if (changes) this.#before ??= [...this.#stores];
        request.result = work();
      } catch (error) {
        [request.error, this.error, this.#state] = [error, error, "aborted"];
        request.onerror?.({ target: request });
        return;
      }
      request.onsuccess?.({ target: request });
    });
    return request;
  }

  #put(name, key, bytes) {
    return this.#ask(() => {
      this.#write(name, key, bytes);
      return key;
    }, true);
  }

  #write(name, key, bytes) {
    const spelled = JSON.stringify(key);
    this.#tell("write", spelled, bytes);
    const records = [...this.#stores.get(name)];
    const place = countBelow(records, key, false);
    const isThere = place < records.length && compareKeys(records[place][0], key) === 0;
    records.splice(place, isThere ? 1 : 0, [copied(key), bytes, spelled]);
    this.#stores.set(name, records);
  }

  #remove(name, gone) {
    for (const [key] of gone) this.#tell("delete", JSON.stringify(key), "");
    this.#stores.set(name, this.#stores.get(name).filter((record) => !gone.includes(record)));
  }
}

function rangeOf(range) {
  return range instanceof KeyRange ? range : KeyRange.only(range);
}
