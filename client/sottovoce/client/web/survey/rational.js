/** The largest sum of weights that the device draws from. */
export const MAX_DENOMINATOR = 2 ** 32;

const FRACTION = /^(0|[1-9][0-9]{0,9})(?:\/([1-9][0-9]{0,9}))?$/;
const DECIMAL = /^(-?)(0|[1-9][0-9]{0,14})(?:\.([0-9]{1,9}))?$/;

/** Throw a RangeError unless the condition holds; the caller adds the place, and no message repeats the value. */
export function must(condition) {
  if (!condition) throw new RangeError();
}

/**
 * The fraction written as "3/4" or "3": [numerator, denominator], each at most 2^32 and so an exact Number.
 *
 * Lowest terms only, as in Python: two spellings of one number would be two digests, and here two different draws.
 *
 * @throws {RangeError} not of that form, not in lowest terms, or beyond 2^32
 */
export function parseFraction(text) {
  const match = typeof text === "string" && FRACTION.exec(text);
  must(match);
  const [numerator, denominator] = [match[1], match[2] ?? 1].map(Number);
  must(gcd(numerator, denominator) === 1 && match[2] !== "1");
  must(Math.max(numerator, denominator) <= MAX_DENOMINATOR);
  return [numerator, denominator];
}

/**
 * The number written as "-0.25", or a whole number, in billionths: a BigInt, so that 0.3 is three times 0.1.
 *
 * @throws {RangeError} neither text of that form with at most 15 digits before and 9 after the point, nor whole
 */
export function parseDecimal(value) {
  const text = Number.isInteger(value) && Math.abs(value) < 1e15 ? String(value) : value;
  const match = typeof text === "string" && DECIMAL.exec(text);
  must(match);
  return BigInt(match[1] + match[2] + (match[3] ?? "").padEnd(9, "0"));
}

/** The one spelling of so many billionths: no needless zeros, no "-0". */
export function dumpDecimal(billionths) {
  const digits = String(billionths).replace("-", "").padStart(10, "0");
  const text = `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/\.?0+$/, "");
  return billionths < 0n ? `-${text}` : text;
}

/** The least common multiple of two whole numbers; exact where it does not exceed 2^53. */
export function lcm(m, n) {
  return (m / gcd(m, n)) * n;
}

/** The sum of whole numbers, such as a row of weights. */
export function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Natural logarithm of x / y for whole numbers x >= y, to 15 digits, however near 1 the ratio is. */
export function log(x, y) {
  return Math.log1p((x - y) / y);
}

/** Epsilon with two decimals, rounded up: what is shown is never less than what is spent. */
export function showEpsilon(epsilon) {
  return (Math.ceil(epsilon * 100) / 100).toFixed(2);
}

function gcd(m, n) {
  return n === 0 ? m : gcd(n, m % n);
}
