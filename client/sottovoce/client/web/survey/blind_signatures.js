import { hexadecimal } from "./canonical.js";

/** Bytes of salt, as many as SHA-384 has. */
export const SALT = 48;

const HASH_BYTES = 48;
// A constant, never read from a survey: with another exponent a modulus could be made that tells a part of the factor.
const EXPONENT_BITS = 16;

/**
 * The number that is signed for a message: EMSA-PSS with SHA-384, one bit shorter than the modulus, which has `bits`.
 * The Python twin explains blind signatures, and why the signer learns nothing.
 */
export async function encodeMessage(message, salt, bits) {
  const length = bits / 8;
  // What is hashed begins with eight zero bytes, so that no plain digest of anything can stand for it.
  const digest = await sha384(new Uint8Array(8), await sha384(message), salt);
  const padded = joinedBytes(new Uint8Array(length - salt.length - HASH_BYTES - 2), [1], salt);
  const mask = await maskOfDigest(digest, length - HASH_BYTES - 1);
  const masked = BigInt.asUintN(8 * padded.length - 1, integerOf(padded) ^ integerOf(mask));
  return masked * 256n ** BigInt(HASH_BYTES + 1) + integerOf(joinedBytes(digest, [0xbc]));
}

/**
 * A message as the signer may see it: `{ sent, inverse, encoded }`, what the signer gets as bytes, what the factor is
 * undone with, and the encoded message.
 *
 * @param factor uniform below the modulus, never used again
 * @throws {RangeError} it has no inverse, which for a random factor has negligible probability
 */
export async function blind(message, modulus, salt, factor) {
  const bits = bitsOfModulus(modulus);
  const encoded = await encodeMessage(message, salt, bits);
  const hidden = (encoded * raised(factor, modulus)) % modulus;
  return { sent: bytesOf(hidden, bits / 8), inverse: inverseOf(factor, modulus), encoded };
}

/**
 * The signature in what the signer answered to `blinded`.
 *
 * @throws {RangeError} it is no signature of what was sent
 */
export function finalize({ inverse, encoded }, answer, modulus) {
  const length = bitsOfModulus(modulus) / 8;
  const signature = (integerOf(answer) * inverse) % modulus;
  if (answer.length !== length || raised(signature, modulus) !== encoded) throw new RangeError();
  return bytesOf(signature, length);
}

/** A uniform number from 1 to modulus - 1: whole reads of `read`, as many bytes as it has, until they are one. */
export function drawFactor(modulus, read) {
  for (;;) {
    const drawn = integerOf(read(bitsOfModulus(modulus) / 8));
    if (drawn > 0n && drawn < modulus) return drawn;
  }
}

/** The number that bytes spell, the highest first. */
export function integerOf(bytes) {
  return BigInt(`0x0${hexadecimal(bytes)}`);
}

/** A number as so many bytes, the highest first. */
export function bytesOf(number, length) {
  const digits = number.toString(16).padStart(2 * length, "0");
  return Uint8Array.from({ length }, (_, place) => parseInt(digits.slice(2 * place, 2 * place + 2), 16));
}

/** How many bits a modulus has. */
export function bitsOfModulus(modulus) {
  return modulus.toString(2).length;
}

// MGF1 with SHA-384.
async function maskOfDigest(digest, length) {
  const places = [...Array(Math.ceil(length / HASH_BYTES)).keys()];
  const blocks = await Promise.all(places.map((place) => sha384(digest, [0, 0, 0, place])));
  return joinedBytes(...blocks).slice(0, length);
}

async function sha384(...parts) {
  return new Uint8Array(await crypto.subtle.digest("SHA-384", joinedBytes(...parts)));
}

function joinedBytes(...parts) {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

// To the power of 65537: sixteen squares, and once more itself.
function raised(number, modulus) {
  let power = number;
  for (let square = 0; square < EXPONENT_BITS; square++) power = (power * power) % modulus;
  return (power * number) % modulus;
}

// By the extended algorithm of Euclid.
function inverseOf(number, modulus) {
  let [rest, next, one, other] = [modulus, number, 0n, 1n];
  while (next > 0n) {
    const times = rest / next;
    [rest, next, one, other] = [next, rest - times * next, other, one - times * other];
  }
  if (rest !== 1n) throw new RangeError();
  return ((one % modulus) + modulus) % modulus;
}
