import { SpecError } from "./errors.js";

const MAX_DEPTH = 32;

/** The one spelling of a value: keys sorted, no spaces. */
export function dumpCanonical(value) {
  if (Array.isArray(value)) return `[${value.map(dumpCanonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${dumpCanonical(value[key])}`);
  return `{${members.join(",")}}`;
}

/**
 * The object in `bytes`, which must be its canonical spelling.
 *
 * Spelling it again and comparing refuses duplicate keys, another order, spaces, escapes, 1.0, -0 and integers that
 * a Number cannot hold, all at once.
 *
 * @throws {SpecError} not UTF-8, not JSON, not an object, too deep, or not canonical
 */
export function loadCanonical(bytes) {
  const text = decode(bytes);
  const value = parseJson(text);
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw new SpecError("must be a JSON object");
  checkTree(value, 0);
  if (dumpCanonical(value) !== text) throw new SpecError("is not in canonical form");
  return value;
}

function decode(bytes) {
  try {
    // Without ignoreBOM a byte order mark would vanish, and two byte strings would be one survey.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new SpecError("is not UTF-8");
  }
}

function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new SpecError("is not JSON");
  }
}

function checkTree(value, depth) {
  if (depth > MAX_DEPTH) throw new SpecError("is nested too deep");
  if (typeof value === "number" && !Number.isSafeInteger(value)) throw new SpecError("holds a number that is not whole");
  // A lone surrogate survives JSON but not UTF-8.
  if (typeof value === "string" && /\p{Surrogate}/u.test(value)) throw new SpecError("holds text that is not valid Unicode");
  if (value === null || typeof value !== "object") return;
  for (const item of Object.values(value)) checkTree(item, depth + 1);
}
