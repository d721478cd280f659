/** The largest sum of weights that the device draws from. */
export const MAX_DENOMINATOR = 2 ** 32;

const FRACTION = /^(0|[1-9][0-9]{0,9})(?:\/([1-9][0-9]{0,9}))?$/;

/**
 * The fraction written as "3/4" or "3", in BigInts: products of two denominators do not fit a Number.
 *
 * Lowest terms only, as in Python: two spellings of one number would be two digests, and here two different draws.
 *
 * @throws {RangeError} not of that form, not in lowest terms, or beyond 2^32
 */
export function parseFraction(text) {
  const match = typeof text === "string" ? FRACTION.exec(text) : null;
  if (match === null) throw new RangeError('must be a fraction written as a string, such as "3/4"');
  const value = { numerator: BigInt(match[1]), denominator: BigInt(match[2] ?? 1) };
  if (gcd(value.numerator, value.denominator) !== 1n || match[2] === "1") {
    throw new RangeError("must be in lowest terms");
  }
  if (value.numerator > MAX_DENOMINATOR || value.denominator > MAX_DENOMINATOR) {
    throw new RangeError("numerator and denominator must not exceed 2^32");
  }
  return value;
}

/** Whether x < y, exactly. */
export function less(x, y) {
  return x.numerator * y.denominator < y.numerator * x.denominator;
}

/** x / y, exactly; y is not 0. */
export function divide(x, y) {
  return { numerator: x.numerator * y.denominator, denominator: x.denominator * y.numerator };
}

/** 1 - x, exactly. */
export function complement(x) {
  return { numerator: x.denominator - x.numerator, denominator: x.denominator };
}

/** The least common multiple of two positive BigInts. */
export function lcm(m, n) {
  return (m / gcd(m, n)) * n;
}

/** Natural logarithm of a fraction of at least 1, to 15 digits, however near 1 it is. */
export function log(ratio) {
  return Math.log1p(Number(ratio.numerator - ratio.denominator) / Number(ratio.denominator));
}

/** Epsilon with two decimals, rounded up: what is shown is never less than what is spent. */
export function showEpsilon(epsilon) {
  return (Math.ceil(epsilon * 100) / 100).toFixed(2);
}

function gcd(m, n) {
  return n === 0n ? m : gcd(n, m % n);
}
