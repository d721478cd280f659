// A device for one run of an audit, in the place of a browser: what the product's scripts can reach of it is told, as a
// list of events in their order. Its random bytes are a tape; its clock is moved by nothing but timers and looks at it.
import { createHash } from "node:crypto";
import { serialize } from "node:v8";

import { Databases, KeyRange } from "./javascript_database.mjs";

const later = globalThis.setImmediate;
const Moment = globalThis.Date;
// Node loads much with some of its names: what is needed rarely is not looked at before.
const cryptoOf = Object.getOwnPropertyDescriptor(globalThis, "crypto").get;
const HASHES = new Map([["SHA-256", "sha256"], ["SHA-384", "sha384"]]);
const TICK = 1 / 64;
const OLD = 1_700_000_000_000;
const PERIOD = 500;
// The same few bytes are hashed again and again; so many of them are remembered.
const DIGESTS = new Map([...HASHES.keys()].map((algorithm) => [algorithm, new Map()]));
const MOST_DIGESTS = 4096;
// Turns after which nothing more comes, and those at the end of which nothing ever will.
const [REST, MOST_TURNS] = [3, 400];
const NEVER = new globalThis.AbortController().signal;
const CONSOLE = Object.keys(globalThis.console).filter((name) => typeof globalThis.console[name] === "function");
// What a page could keep something in, or tell somebody something by, beside the ledger and fetch; at the end, what
// shows nothing of that which was put into it.
const WATCHED = [
  "document", "localStorage", "sessionStorage", "caches", "cookieStore", "history", "location", "navigator", "opener",
  "parent", "top", "name", "XMLHttpRequest", "WebSocket", "WebTransport", "EventSource", "BroadcastChannel", "Worker",
  "SharedWorker", "Image", "Audio", "RTCPeerConnection", "Notification", "MessageChannel", "postMessage", "open",
  "alert", "confirm", "prompt", "print", "fetchLater", "FontFace", "sharedStorage", "scheduler", "addEventListener",
  "dispatchEvent", "requestAnimationFrame", "requestIdleCallback", "Request", "Response", "Headers", "FormData", "Blob",
  "File", "ReadableStream",
];
const ITSELF = ["window", "self", "frames"];
const MOMENTS = ["onpagehide", "onbeforeunload", "onunload", "onvisibilitychange", "onblur", "onmessage"];

/** What one run sees: `events` are [kind, ...details], each a text; `random` are the bytes that there are to read. */
export class Device {
  events = [];
  position = 0;
  isOnline = true;
  address = "";
  #timers = [];
  #handed = [];
  #busy = 0;
  #since = 0;
  #begun = 0;

  /**
   * `answer(request)` gives status and body, or null for no connection; `shift` moves the clocks at the beginning, but
   * for the one on the wall, which shows `present`, in seconds since 1970: null where it is not to be looked at.
   */
  constructor(random, answer, shift = 0, present = null) {
    Object.assign(this, { random, answer, present });
    // By whole periods, which send times follow.
    this.#since = this.#begun = (shift + 1) * PERIOD * 7;
    this.databases = new Databases((what, key, bytes) => this.tell("write", what, key, bytes));
  }

  tell(kind, ...details) {
    this.events.push([kind, ...details]);
  }

  /** The bytes that are asked for; zeros beyond the end of the tape. */
  fill(array) {
    const isPlain = array.constructor === Uint8Array;
    const bytes = isPlain ? array : new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    this.tell("read", `${bytes.length}`, isPlain ? "" : array.constructor.name);
    for (let place = 0; place < bytes.length; place += 1) bytes[place] = this.random[this.position + place] ?? 0;
    this.position += bytes.length;
    return array;
  }

  now() {
    this.#since += TICK;
    return this.#since;
  }

  /** What the clock on the wall shows, in milliseconds. */
  onTheWall() {
    if (this.present === null) return this.otherwise("Date") + OLD + Math.floor(this.now());
    this.tell("clock");
    return this.present * 1000 + Math.floor(this.#since - this.#begun);
  }

  /** Let the wall's clock come to this moment, in seconds since 1970. */
  waitUntil(moment) {
    this.#since = Math.max(this.#since, this.#begun + (moment - this.present) * 1000);
  }

  /** What does not come from the tape, in any run the same; that it was asked for is a finding. */
  otherwise(source) {
    this.tell("source", source);
    return 0.5;
  }

  wait(work, milliseconds, rest) {
    this.tell("timer", String(milliseconds));
    const timer = { due: this.#since + Math.max(0, Number(milliseconds) || 0), run: () => work(...rest) };
    this.#timers.push(timer);
    if (this.#timers.length === 1) later(() => this.#ring());
    return timer;
  }

  // Timers are slow beside everything else: none rings while something is under way.
  #ring() {
    const [next] = [...this.#timers].sort((one, other) => one.due - other.due);
    if (next === undefined) return;
    if (!this.databases.isBusy && this.#busy === 0) {
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.#since = Math.max(this.#since, next.due);
      next.run();
    }
    if (this.#timers.length > 0) later(() => this.#ring());
  }

  /** Something is handed to the browser, to be done whenever that likes; see `leave`. */
  hand(work) {
    this.#handed.push(work);
  }

  /** The page is left: whatever was handed to the browser or put off has its time at last. */
  async leave() {
    await this.#quiet();
    for (const work of this.#handed.splice(0)) {
      try {
        await work({ type: "pagehide", persisted: false, preventDefault: () => {} });
      } catch {
        // It did not get what it expected; what it has done until then is told.
      }
    }
    await this.#quiet();
  }

  async #quiet() {
    const isQuiet = () => !this.databases.isBusy && this.#busy === 0 && this.#timers.length === 0;
    for (let [turns, rest] = [0, 0]; turns < MOST_TURNS && rest < REST; turns += 1) {
      rest = isQuiet() ? rest + 1 : 0;
      await new Promise((resolve) => later(resolve));
    }
  }

  forgetTimer(timer) {
    this.#timers = this.#timers.filter((one) => one !== timer);
  }

  tellRequest({ method, address, headers, body }, more) {
    this.tell("request", method, address, JSON.stringify(headers), body, JSON.stringify(more));
  }

  // An object may hold more than can be told of it.
  #refuse(resource, body) {
    const isPlain = typeof resource === "string" || resource instanceof URL;
    if (isPlain && (typeof body === "string" || ArrayBuffer.isView(body))) return;
    this.tell("request", "GET", "an object", "[]", "", "{}");
    throw new TypeError("Failed to fetch");
  }

  // Who breaks a request off shows when.
  #heed(signal) {
    if (signal === NEVER) return;
    const tell = () => this.tell("request", "GET", "broken off", "[]", "", "{}");
    signal.addEventListener("abort", tell);
    if (!signal.aborted) return;
    tell();
    throw new TypeError("Failed to fetch");
  }

  async fetch(resource, options = {}) {
    const { method = "GET", headers = {}, body = "", signal = NEVER, ...more } = whole(options);
    this.#refuse(resource, body);
    this.#heed(signal);
    const request = { method, address: String(resource?.url ?? resource), headers: pairs(headers), body: textOf(body) };
    this.tellRequest(request, more);
    this.#busy += 1;
    await new Promise((resolve) => later(resolve));
    this.#busy -= 1;
    const reply = this.answer(request, this);
    if (reply === null) throw new TypeError("Failed to fetch");
    return response(...reply);
  }
}

// What it was given, and what that has from another object: a browser looks at both.
function whole(options) {
  const found = {};
  for (const name in options) found[name] = options[name];
  return found;
}

/** SHA-256 as 64 hexadecimal digits. */
export const sha256 = (data) => createHash("sha256").update(data).digest("hex");

function pairs(headers) {
  return typeof headers[Symbol.iterator] === "function" ? [...headers] : Object.entries(headers);
}

function textOf(value) {
  return typeof value === "string" ? value : serialize(value).toString("latin1");
}

function response(status, text) {
  return {
    status,
    ok: status === 200,
    headers: new Map(),
    json: async () => JSON.parse(text),
    text: async () => text,
    arrayBuffer: async () => new TextEncoder().encode(text).buffer,
  };
}

let current = null;

/** Let the scripts run on this device from now on. */
export function enter(device) {
  current = device;
}

/** The place of a browser's own things, once and before any script is loaded; `enter` says on which device. */
export function install() {
  const set = (name, value) => Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  const forwarded = { get: (_, name) => current.databases[name]?.bind?.(current.databases) };
  set("indexedDB", new Proxy({}, forwarded));
  set("IDBKeyRange", KeyRange);
  set("fetch", (...request) => current.fetch(...request));
  set("isSecureContext", true);
  set("crypto", new Proxy({}, { get: (_, name) => ofCrypto(name) }));
  set("performance", new Proxy({}, { get: (_, name) => ofPerformance(name) }));
  set("setTimeout", (work, milliseconds, ...rest) => current.wait(work, milliseconds, rest));
  set("clearTimeout", (timer) => current.forgetTimer(timer));
  for (const name of ["setInterval", "setImmediate"]) set(name, putOff(name));
  set("Date", watchedDate());
  Math.random = () => current.otherwise("Math.random");
  AbortSignal.timeout = (milliseconds) => {
    current.tell("timer", `signal ${milliseconds}`);
    return NEVER;
  };
  for (const name of CONSOLE) console[name] = (...said) => current.tell("console", name, said.map(shown).join("\n"));
}

function putOff(name) {
  return (work, each = 0) => {
    current.tell("timer", name, String(each));
    if (typeof work === "function") current.hand(work);
  };
}

/** What a page has and node does not, each use told: after loading, for the scripts open a form where they can. */
export function installPage() {
  for (const name of WATCHED) {
    const use = watched(name);
    // What is put in its place is told, and changes nothing: a name outlives the page, another place is gone to.
    const set = (value) => current.tell("beyond", `set ${name}`, shown(value));
    Object.defineProperty(globalThis, name, { get: () => use, set, configurable: true });
  }
  watchTheRest();
  for (const name of ITSELF) {
    Object.defineProperty(globalThis, name, { value: globalThis, configurable: true, writable: true });
  }
  for (const name of MOMENTS) {
    Object.defineProperty(globalThis, name, { set: (work) => current.hand(work), get: () => null, configurable: true });
  }
}

// Whatever else a page has, of which nobody here knows: each look at it, and all that is put there.
function watchTheRest() {
  const [known, kept] = [Object.getPrototypeOf(globalThis), new Map()];
  const get = (_, name) => {
    if (kept.has(name)) return kept.get(name);
    if (typeof name === "symbol" || name in known) return Reflect.get(known, name, globalThis);
    current.tell("beyond", `get ${name}`);
    return watched(name);
  };
  const set = (_, name, value) => {
    current.tell("beyond", `set ${String(name)}`, shown(value));
    kept.set(name, value);
    return true;
  };
  Object.setPrototypeOf(globalThis, new Proxy(Object.create(known), { get, set }));
}

function ofCrypto(name) {
  if (name === "getRandomValues") return (array) => current.fill(array);
  if (name === "subtle") return new Proxy({}, { get: (_, what) => ofSubtle(what) });
  return () => current.otherwise(`crypto.${String(name)}`);
}

// At once, and not on another thread: which is first there is no matter of answers.
function ofSubtle(name) {
  if (name !== "digest") return async () => current.otherwise(`crypto.subtle.${String(name)}`);
  return async (algorithm, data) => {
    if (!HASHES.has(algorithm)) return cryptoOf.call(globalThis).subtle.digest(algorithm, data);
    return digestOf(algorithm, new Uint8Array(data)).slice().buffer;
  };
}

function digestOf(algorithm, bytes) {
  const known = DIGESTS.get(algorithm);
  const text = Buffer.from(bytes.buffer).toString("latin1");
  let digest = known.get(text);
  if (digest === undefined) {
    if (known.size === MOST_DIGESTS) known.clear();
    digest = new Uint8Array(createHash(HASHES.get(algorithm)).update(bytes).digest());
    known.set(text, digest);
  }
  return digest;
}

function ofPerformance(name) {
  if (name === "now") return () => (current.tell("clock"), current.now());
  if (name === "timeOrigin") return current.otherwise("performance.timeOrigin");
  return (...given) => current.tell("page", `performance.${String(name)}`, given.map(shown).join("\n"));
}

// A moment that is given is read as ever; only the present one is a look at the clock.
function watchedDate() {
  const present = () => Math.floor(current.onTheWall());
  class WatchedDate extends Moment {
    constructor(...given) {
      super(...(given.length === 0 ? [present()] : given));
    }
  }
  WatchedDate.now = present;
  return WatchedDate;
}

function shown(value) {
  try {
    return textOf(value);
  } catch {
    if (Array.isArray(value)) return value.map(shown).join("\n");
    return String(value);
  }
}

const PLAIN = new Map([
  ["navigator.onLine", () => current.isOnline],
  ["navigator.languages", () => ["en"]],
  ["location.href", () => current.address],
]);

/** Something of which each use is told, whatever it is; it gives the like of itself. */
export function watched(path) {
  const use = (how, name, given) => {
    current.tell("page", `${path} ${how} ${String(name)}`, given.map(shown).join("\n"));
    for (const work of given) if (typeof work === "function") current.hand(work);
    return watched(`${path}.${String(name)}`);
  };
  return new Proxy(function () {}, {
    get: (_, name) => {
      if (name === "then") return undefined;
      if (typeof name === "symbol") return name === Symbol.toPrimitive ? () => "" : undefined;
      return PLAIN.get(`${path}.${name}`)?.() ?? use("get", name, []);
    },
    set: (_, name, value) => (use("set", name, [value]), true),
    deleteProperty: (_, name) => (use("delete", name, []), true),
    apply: (_, __, given) => use("call", "", given),
    construct: (_, given) => use("new", "", given),
  });
}
