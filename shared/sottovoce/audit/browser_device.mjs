// Put into a page before its own scripts: its random bytes come from a tape, its timers ring at once on a clock that
// they move, and what it does is noted in order. `audited` tells an audit what was noted and what lies in the browser.
(() => {
  const { AbortController, Crypto, IDBObjectStore, Storage, History, Navigator, Performance } = globalThis;
  const { caches, history, indexedDB, localStorage, location, sessionStorage } = globalThis;
  const [NOW, PERIOD, TICK] = [performance.now.bind(performance), 500, 1 / 64];
  const [later, fetched] = [setTimeout, fetch].map((own) => own.bind(globalThis));
  const opened = indexedDB.open.bind(indexedDB);
  const Moment = Date;
  const state = { events: [], kept: [], tape: [], position: 0, isFed: true, isWatched: false, last: NOW(), since: 0 };
  state.present = null;
  // Between presses everything waits until the page has come to rest, so that only what follows upon it is compared.
  const tell = (...event) => {
    state.last = NOW();
    if (state.isWatched) state.events.push(event.map(String));
  };

  const looked = () => {
    state.since += TICK;
    return state.since;
  };
  Crypto.prototype.getRandomValues = function (array) {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    tell("read", bytes.length, array.constructor.name);
    for (let place = 0; place < bytes.length; place += 1) {
      bytes[place] = state.isFed ? (state.tape[state.position + place] ?? 0) : 0;
    }
    if (state.isFed) state.position += bytes.length;
    return array;
  };
  const elsewhere = (source) => {
    tell("source", source);
    return 0.5;
  };
  Math.random = () => elsewhere("Math.random");
  Crypto.prototype.randomUUID = () => String(elsewhere("crypto.randomUUID"));
  // Only where a report waits for its moment may the clock on the wall be looked at.
  const present = () => {
    if (state.present === null) return elsewhere("Date"), 1.7e12 + Math.floor(looked());
    tell("clock");
    return state.present * 1000 + Math.floor(looked());
  };
  globalThis.Date = class extends Moment {
    constructor(...given) {
      super(...(given.length === 0 ? [present()] : given));
    }
    static now = present;
  };
  performance.now = () => (tell("clock"), looked());
  globalThis.setTimeout = (work, milliseconds = 0, ...rest) => {
    tell("timer", milliseconds);
    return later(() => {
      state.since = Math.max(state.since, Math.ceil((state.since + Number(milliseconds)) / PERIOD) * PERIOD);
      work(...rest);
    });
  };
  AbortSignal.timeout = () => new AbortController().signal;

  globalThis.fetch = async (resource, options = {}) => {
    const { method = "GET", headers = {}, body = "", ...more } = options;
    delete more.signal;
    const pairs = typeof headers[Symbol.iterator] === "function" ? [...headers] : Object.entries(headers);
    const told = [JSON.stringify(pairs), body, JSON.stringify(more)];
    tell("request", method, resource?.url ?? resource, ...told);
    if (state.isWatched && method === "POST") await keep("waiting");
    return fetched(resource, options);
  };
  const noted = (prototype, names, kind) => {
    for (const name of names) {
      const own = prototype[name];
      prototype[name] = function (...given) {
        tell(kind, name, JSON.stringify(given));
        return own.apply(this, given);
      };
    }
  };
  noted(IDBObjectStore.prototype, ["put", "add", "delete", "clear"], "write");
  noted(Storage.prototype, ["setItem", "removeItem", "clear"], "write");
  noted(History.prototype, ["pushState", "replaceState"], "page");
  noted(Navigator.prototype, ["sendBeacon"], "page");
  noted(Performance.prototype, ["mark", "measure"], "page");
  noted(console, ["log", "info", "warn", "error", "debug", "table", "dir", "trace"], "console");

  const settled = (request) =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  const recordsOf = async (name) => {
    const database = await settled(opened(name));
    const stores = [...database.objectStoreNames];
    const found = [];
    for (const store of stores) {
      const records = database.transaction(store).objectStore(store);
      found.push([name, store, await settled(records.getAllKeys()), await settled(records.getAll())]);
    }
    database.close();
    return found;
  };
  const cached = async () => {
    const found = [];
    for (const name of await caches.keys()) {
      for (const request of await (await caches.open(name)).keys()) found.push(`${name} ${request.url}`);
    }
    return found.sort();
  };
  // What lies in this browser, and what its tab shows of itself.
  const keep = async (moment) => {
    const watched = state.isWatched;
    state.isWatched = false;
    const names = (await indexedDB.databases()).map(({ name }) => name).sort();
    const records = [];
    for (const name of names) records.push(...(await recordsOf(name)));
    const places = [localStorage, sessionStorage].map((storage) => Object.entries(storage).sort());
    const tab = [document.title, location.href, history.length, history.state, globalThis.name, document.cookie];
    const main = moment === "waiting" ? "" : document.documentElement.outerHTML;
    state.kept.push([moment, { records, places, caches: await cached(), tab, shown: main }]);
    state.isWatched = watched;
  };

  globalThis.audited = {
    // Random bytes from here on: those of the tape from its beginning, or zeros.
    feed: (tape) => {
      state.isFed = tape !== null;
      if (tape !== null) [state.tape, state.position] = [Uint8Array.from(tape), 0];
    },
    // What the clock on the wall shows from here on, in seconds since 1970.
    live: (moment) => (state.present = moment),
    watch: () => ([state.events, state.kept, state.isWatched] = [[], [], true]),
    keep,
    isAtRest: () => NOW() - state.last > 150,
    told: () => ({ events: state.events, kept: state.kept, used: state.position }),
  };
})();
