// Where the browser's client has its randomness from: every byte from crypto.getRandomValues, each used as the protocol
// says and in its order, and nothing where there are none. No statistics: of what is read there is a trace.
import { createHash } from "node:crypto";

const sha256 = (text) => createHash("sha256").update(text).digest("hex");

const POWERS = [1, 2, 4, 7, 8, 16, 24, 31, 32].map((bits) => 2 ** bits);
const BOUNDS = [1, 5, 7, 100, 1000, ...POWERS.flatMap((power) => [power - 1, power, power + 1])].filter(
  (bound) => bound >= 1 && bound <= 2 ** 32,
);
const ROUNDS = 60;
const ID_BYTES = 16;

/** What is wrong with the client's source of randomness, as words of the report's list; empty if nothing is. */
export function checkSource(product) {
  const found = [];
  const note = (kind, isRight) => isRight || found.push(kind);
  const device = deviceOf(tape(BOUNDS.length * ROUNDS * 16));
  const expected = new Protocol(device.random);
  const draws = new product.Draws();
  note("protocol", orFalse(() => isSameThroughout(draws, expected)));
  note("unused", device.position - expected.position < Math.max(1, device.last));
  for (const source of device.sources) note(`source ${source}`, false);
  note("fallback", stopsWithoutBytes(product));
  note("missing", refusesPlaces(product));
  return [...new Set(found)];
}

// The platform's source of randomness gives these bytes from here on, and zeros beyond their end.
function deviceOf(bytes) {
  const device = { random: bytes, position: 0, last: 0, sources: [], fill: null };
  device.fill = (array) => {
    const into = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    into.forEach((_, place) => (into[place] = bytes[device.position + place] ?? 0));
    device.position += into.length;
    device.last = into.length;
    return array;
  };
  const elsewhere = (source) => () => (device.sources.push(source), 0.5);
  const crypto = { getRandomValues: (array) => device.fill(array), randomUUID: elsewhere("crypto.randomUUID") };
  Object.defineProperty(globalThis, "crypto", { value: crypto, configurable: true, writable: true });
  Math.random = elsewhere("Math.random");
  return device;
}

// Bytes that anybody can make again.
function tape(length, seed = 0) {
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, index) => sha256(`tape ${seed} ${index}`));
  return Buffer.from(blocks.join(""), "hex").subarray(0, length);
}

/** The protocol of design.md, in whole numbers of any size; its own twin, so that it shares no slip with the client. */
class Protocol {
  position = 0;

  constructor(bytes) {
    this.bytes = bytes;
  }

  take(count) {
    this.position += count;
    return this.bytes.subarray(this.position - count, this.position);
  }

  below(bound) {
    const bits = (BigInt(bound) - 1n).toString(2).length;
    if (bound === 1) return 0;
    for (;;) {
      const value = BigInt(`0x${this.take(Math.ceil(bits / 8)).toString("hex")}`) % (1n << BigInt(bits));
      if (value < BigInt(bound)) return Number(value);
    }
  }

  pick(weights) {
    const drawn = this.below(weights.reduce((total, weight) => total + weight, 0));
    const reach = weights.map((_, index) => weights.slice(0, index + 1).reduce((total, weight) => total + weight, 0));
    return reach.findIndex((end) => drawn < end);
  }
}

// Numbers, choices and ids in turn, long enough for any store of bytes to be filled again and again.
function isSameThroughout(draws, expected) {
  const rounds = [...Array(ROUNDS).keys()];
  return rounds.every((round) => {
    const weights = [round, 1, 2 ** (round % 31), 0, 5];
    const isSame = BOUNDS.every((bound) => draws.below(bound) === expected.below(bound));
    const isPicked = draws.pick(weights) === expected.pick(weights);
    return isSame && isPicked && draws.identity() === expected.take(ID_BYTES).toString("hex");
  });
}

// Without bytes there is no draw, from wherever else.
function stopsWithoutBytes(product) {
  const device = deviceOf(Buffer.alloc(0));
  device.fill = () => {
    throw new DOMException("", "OperationError");
  };
  const isRefused = (work) => orFalse(() => (work(), false), true);
  const draws = () => new product.Draws();
  const ways = [() => draws().below(3), () => draws().identity(), () => draws().pick([1, 1])];
  return ways.every(isRefused);
}

// No answer may be asked for where randomness or secrecy is missing.
function refusesPlaces({ checkDevice }) {
  const crypto = { getRandomValues: () => {} };
  const isRefused = (scope) => orFalse(() => (checkDevice(scope), false), true);
  const bad = [{ isSecureContext: true }, { isSecureContext: true, crypto: {} }, { crypto }];
  return [...bad, { isSecureContext: false, crypto }].every(isRefused) && !isRefused({ isSecureContext: true, crypto });
}

function orFalse(work, otherwise = false) {
  try {
    return work();
  } catch {
    return otherwise;
  }
}
