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
  const [text, value] = parse(bytes);
  checkTree(value, 0);
  if (!text.startsWith("{") || dumpCanonical(value) !== text) throw new SpecError("/");
  return value;
}

function parse(bytes) {
  try {
    // Without ignoreBOM a byte order mark would vanish, and two byte strings would be one survey.
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return [text, JSON.parse(text)];
  } catch {
    throw new SpecError("/");
  }
}

function checkTree(value, depth) {
  // A lone surrogate survives JSON but not UTF-8; a number that is not whole is none of ours.
  const isWrong = typeof value === "string" ? /\p{Surrogate}/u.test(value) : typeof value === "number" && !Number.isSafeInteger(value);
  if (isWrong || depth > MAX_DEPTH) throw new SpecError("/");
  if (value === null || typeof value !== "object") return;
  for (const item of Object.values(value)) checkTree(item, depth + 1);
}

/** SHA-256 of bytes or of text in UTF-8, as 64 hexadecimal digits. */
export async function sha256(data) {
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
  return hexadecimal(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}

/** Bytes as lower-case hexadecimal digits. */
export function hexadecimal(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
