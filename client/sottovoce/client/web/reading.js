import { SpecError } from "./errors.js";

const LANGUAGE = /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/;
const MOMENT = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$/;

/** Refuse with a JSON pointer and a rule; the value itself is never repeated. */
export function expect(condition, pointer, message) {
  if (!condition) throw new SpecError(`${pointer || "/"}: ${message}`);
}

/** A map with all of `required`, and nothing beyond `required` and `optional`. */
export function readFields(value, pointer, required, optional = []) {
  expect(value !== null && typeof value === "object" && !Array.isArray(value), pointer, "must be a map");
  for (const key of required) expect(Object.hasOwn(value, key), `${pointer}/${key}`, "is missing");
  for (const key of Object.keys(value)) {
    expect(required.includes(key) || optional.includes(key), pointer, "has a key that is not known");
  }
  return value;
}

/** A list whose length lies between `least` and `most`. */
export function readItems(value, pointer, least, most) {
  const fits = Array.isArray(value) && value.length >= least && value.length <= most;
  expect(fits, pointer, `must be a list of ${least} to ${most} items`);
  return value;
}

/** Text that `pattern`, anchored at both ends, matches. */
export function readMatch(value, pointer, pattern) {
  expect(typeof value === "string" && pattern.test(value), pointer, `must be text of the form ${pattern.source}`);
  return value;
}

/** One of a closed list of words. */
export function readWord(value, pointer, allowed) {
  expect(allowed.includes(value), pointer, `must be one of: ${allowed.join(", ")}`);
  return value;
}

/** A whole number from `low` to `high`. */
export function readInteger(value, pointer, low, high) {
  const fits = Number.isSafeInteger(value) && value >= low && value <= high;
  expect(fits, pointer, `must be a whole number from ${low} to ${high}`);
  return value;
}

/** A language tag. */
export function readLanguage(value, pointer) {
  return readMatch(value, pointer, LANGUAGE);
}

/** A text in one or more languages, the default language among them. */
export function readTexts(value, pointer, defaultLanguage) {
  readFields(value, pointer, [defaultLanguage], Object.keys(value ?? {}));
  for (const [tag, text] of Object.entries(value)) {
    readLanguage(tag, pointer);
    expect(isPrintable(text), `${pointer}/${tag}`, "must be text of 1 to 4000 characters without control characters");
  }
  return value;
}

/** A moment in UTC, in milliseconds. */
export function readMoment(value, pointer) {
  const moment = Date.parse(readMatch(value, pointer, MOMENT));
  expect(!Number.isNaN(moment), pointer, "must be a moment such as 2026-12-31T23:59:59Z");
  return moment;
}

/** Refuse a name that an earlier item has. */
export function expectUnique(names, pointer) {
  expect(new Set(names).size === names.length, pointer, "has a name that is used twice");
}

function isPrintable(text) {
  // Spread counts characters as Python does; length would count an emoji twice.
  return typeof text === "string" && text !== "" && [...text].length <= 4000 && !/[\0-\x09\x0b-\x1f]/.test(text);
}
