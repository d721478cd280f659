// What the ledger uses of IndexedDB, in memory: node has none. Beside what browsers have, a `powerCut`.

const CHANGES = "readwrite";
const EVERYTHING = { has: () => true };

/** IndexedDB with one disk: `databases` by name, as they would be found after a power cut. */
export class FakeIndexedDB {
  #disk = new Map();

  open(name) {
    return asked((request) => {
      const isNew = !this.#disk.has(name);
      if (isNew) this.#disk.set(name, new Disk());
      request.result = new FakeDatabase(this.#disk.get(name), this.failAfter);
      if (isNew) request.onupgradeneeded?.();
    });
  }

  deleteDatabase(name) {
    return asked(() => this.#disk.delete(name));
  }

  /** How many writes a transaction may make; the next one is as if the browser had died at it. */
  failAfter = Infinity;

  /** All records of a store, as a later visit finds them. */
  contents(name, store) {
    return structuredClone(this.#disk.get(name).stores.get(store));
  }

  /** What was not yet written is lost; whoever opens the database again finds the rest. */
  powerCut() {
    for (const disk of this.#disk.values()) disk.cut();
  }
}

/** A range of keys with both ends in it. */
export class FakeKeyRange {
  static bound = (low, high) => Object.assign(new FakeKeyRange(), { low, high });
  has = (key) => compare(this.low, key) <= 0 && compare(key, this.high) <= 0;
}

// Records by store, in the order of their keys; those that a power cut leaves are told apart.
class Disk {
  stores = new Map();
  #safe = new Map();
  // Every transaction waits for those before it that change something.
  last = Promise.resolve();
  powerCuts = 0;

  commit(changed, durability) {
    this.stores = changed;
    // A relaxed transaction is done as soon as the operating system has it; only a strict one is on the disk.
    if (durability === "strict") this.#safe = changed;
  }

  cut() {
    this.powerCuts += 1;
    this.stores = this.#safe;
  }
}

class FakeDatabase {
  #disk;
  #writes;

  constructor(disk, writes) {
    [this.#disk, this.#writes] = [disk, writes];
  }

  createObjectStore(name) {
    this.#disk.commit(new Map(this.#disk.stores).set(name, []), "strict");
  }

  close() {}

  transaction(name, mode, { durability = "default" } = {}) {
    const transaction = new FakeTransaction(name, mode, this.#writes);
    const done = this.#disk.last.then(() => transaction.run(this.#disk, durability));
    if (mode === CHANGES) this.#disk.last = done;
    return transaction;
  }
}

class FakeTransaction {
  #name;
  #mode;
  #work = [];
  #over = false;
  #records = [];
  #aborted = false;
  #writes;

  constructor(name, mode, writes) {
    [this.#name, this.#mode, this.#writes] = [name, mode, writes];
  }

  objectStore = () => {
    const work = (read) => () => this.#asked(read);
    const change = (write) => () => {
      if (this.#mode !== CHANGES) throw new DOMException("", "ReadOnlyError");
      return this.#asked(() => {
        if (this.#writes === 0) throw new DOMException("", "UnknownError");
        this.#writes -= 1;
        return write();
      });
    };
    return {
      get: (key) => work(() => this.#records.find(([known]) => compare(known, key) === 0)?.[1])(),
      getAll: (range = EVERYTHING) => work(() => this.#within(range).map(([, value]) => value))(),
      getAllKeys: (range) => work(() => this.#within(range).map(([key]) => key))(),
      put: (value, key) => change(() => this.#write(key, structuredClone(value)))(),
      add: (value, key) => change(() => this.#add(key, structuredClone(value)))(),
      delete: (which) => change(() => this.#remove(which))(),
    };
  };

  abort() {
    if (this.#over) throw new DOMException("", "InvalidStateError");
    this.#aborted = true;
  }

  async run(disk, durability) {
    this.#records = [...disk.stores.get(this.#name)];
    const { powerCuts } = disk;
    try {
      while (this.#work.length > 0) {
        this.#work.shift()();
        // As in a browser, what follows a request may ask for more before the transaction ends.
        await turn();
        if (this.#aborted) throw new DOMException("", "AbortError");
      }
      this.#over = true;
      await turn();
      // Nobody is left to be told what became of it.
      if (disk.powerCuts !== powerCuts) return;
      if (this.#mode === CHANGES) disk.commit(new Map(disk.stores).set(this.#name, this.#records), durability);
      this.oncomplete?.();
    } catch (error) {
      [this.#over, this.error] = [true, error];
      this.onabort?.();
    }
  }

  #asked(work) {
    if (this.#over) throw new DOMException("", "TransactionInactiveError");
    const request = {};
    this.#work.push(() => {
      try {
        request.result = structuredClone(work());
      } catch (error) {
        request.error = error;
        request.onerror?.();
        throw error;
      }
      request.onsuccess?.();
    });
    return request;
  }

  #within = (range) => this.#records.filter(([key]) => range.has(key));

  #add(key, value) {
    if (this.#records.some(([known]) => compare(known, key) === 0)) throw new DOMException("", "ConstraintError");
    this.#write(key, value);
  }

  #write(key, value) {
    this.#remove(key);
    this.#records = [...this.#records, [key, value]].sort(([one], [other]) => compare(one, other));
  }

  #remove(which) {
    const gone = (key) => (which instanceof FakeKeyRange ? which.has(key) : compare(key, which) === 0);
    this.#records = this.#records.filter(([key]) => !gone(key));
  }
}

function asked(work) {
  const request = {};
  queueMicrotask(() => {
    work(request);
    request.onsuccess?.();
  });
  return request;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

// As the standard orders keys: numbers, then texts, then lists, which are compared item by item.
function compare(one, other) {
  const ranks = [one, other].map((key) => (Array.isArray(key) ? 2 : typeof key === "string" ? 1 : 0));
  if (ranks[0] !== ranks[1]) return ranks[0] - ranks[1];
  if (ranks[0] < 2) return one < other ? -1 : Number(one > other);
  for (let place = 0; place < Math.min(one.length, other.length); place += 1) {
    const order = compare(one[place], other[place]);
    if (order !== 0) return order;
  }
  return one.length - other.length;
}
