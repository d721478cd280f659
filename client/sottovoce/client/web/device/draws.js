import { hexadecimal } from "../survey/canonical.js";
import { SurveyError } from "../survey/errors.js";
import { MAX_DENOMINATOR, must, sum } from "../survey/rational.js";

/**
 * Refuse a place where randomness or secrecy is missing: no answer may be asked for there.
 *
 * @throws {SurveyError}
 */
export function checkDevice(scope = globalThis) {
  if (scope.isSecureContext !== true) throw new SurveyError("error_insecure");
  if (typeof scope.crypto?.getRandomValues !== "function") throw new SurveyError("error_randomness");
}

/** Fresh random bytes of the operating system; where it gives none this throws, there is nothing to fall back to. */
export function systemBytes(count) {
  return crypto.getRandomValues(new Uint8Array(count));
}

/**
 * Turns random bytes into the draws that randomizers are made of; the protocol is the Python client's, byte for byte.
 *
 * below(m)       read ceil(bits(m - 1) / 8) bytes, big-endian; keep the low bits(m - 1) bits; reject if >= m.
 * pick(weights)  u = below(sum of weights); the first index whose cumulative weight exceeds u.
 * identity()     16 bytes, as hexadecimal digits.
 */
export class Draws {
  #read;

  constructor(read = systemBytes) {
    this.#read = read;
  }

  /** A uniform integer in 0 .. bound - 1, for a bound from 1 to 2^32; reads nothing when bound is 1. */
  below(bound) {
    must(Number.isInteger(bound) && bound >= 1 && bound <= MAX_DENOMINATOR);
    // clz32 is unsigned; shifts and masks are not, so the rest is plain arithmetic, exact below 2^53.
    const bits = 32 - Math.clz32(bound - 1);
    if (bits === 0) return 0;
    for (;;) {
      const bytes = this.exactly(Math.ceil(bits / 8));
      const value = bytes.reduce((sum, byte) => sum * 256 + byte, 0) % 2 ** bits;
      if (value < bound) return value;
    }
  }

  /** An index, with probability proportional to its weight. */
  pick(weights) {
    const drawn = this.below(sum(weights));
    let cumulative = 0;
    return weights.findIndex((weight) => (cumulative += weight) > drawn);
  }

  /** 128 random bits as 32 hexadecimal digits. */
  identity() {
    return hexadecimal(this.exactly(16));
  }

  /** So many random bytes; a source that gives fewer is refused. */
  exactly(count) {
    const bytes = this.#read(count);
    // A short read would make zeros of the missing bits, and the noise predictable.
    if (bytes.length !== count) throw new Error();
    return bytes;
  }
}
