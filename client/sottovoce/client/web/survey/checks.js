import { SpecError } from "./errors.js";
import { must } from "./rational.js";

const LANGUAGE = /^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?(-([a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*$/;
const DAY = /^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}$/;
const MOMENT = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$/;

/** An address that a page may lead to. */
export const LINK = /^(https:)\/\/[a-z0-9.-]{1,253}(:[0-9]{1,5})?(\/[A-Za-z0-9._~:/?#[\]@!$&'()*+,;=%-]{0,1000})?$/;

/** What `work` gives. A rule that it finds broken is refused at `pointer`; which one, `sottovoce lint` tells. */
export function locate(pointer, work) {
  try {
    return work();
  } catch (error) {
    // A map where there is none is a TypeError, and a rule that is broken a RangeError.
    throw error instanceof SpecError ? error : new SpecError(pointer);
  }
}

/** A map with all of `required`, and nothing beyond `required` and `optional`. */
export function readFields(value, required, optional = []) {
  must(value !== null && typeof value === "object" && !Array.isArray(value));
  must(required.every((key) => Object.hasOwn(value, key)));
  must(Object.keys(value).every((key) => required.includes(key) || optional.includes(key)));
  return value;
}

/** A list of `least` to `most` items. */
export function readItems(value, least, most) {
  must(Array.isArray(value) && value.length >= least && value.length <= most);
  return value;
}

/** Text that `pattern`, anchored at both ends, matches. */
export function readMatch(value, pattern) {
  must(typeof value === "string" && pattern.test(value));
  return value;
}

/** A whole number from `low` to `high`. */
export function readInteger(value, low, high) {
  must(Number.isSafeInteger(value) && value >= low && value <= high);
  return value;
}

/** A language tag. */
export function readLanguage(value) {
  return readMatch(value, LANGUAGE);
}

/** A text in one or more languages, the default language among them. */
export function readTexts(value, defaultLanguage) {
  readFields(value, [defaultLanguage], Object.keys(value ?? {}));
  for (const [tag, text] of Object.entries(value)) {
    readLanguage(tag);
    // Spread counts characters as Python does; length would count an emoji twice.
    must(typeof text === "string" && text !== "" && [...text].length <= 4000 && !/[\0-\x09\x0b-\x1f]/.test(text));
  }
  return value;
}

/** A moment in UTC, in milliseconds. */
export function readMoment(value) {
  const moment = Date.parse(readMatch(value, MOMENT));
  must(!Number.isNaN(moment));
  return moment;
}

/** A day of the calendar, in milliseconds of its beginning in UTC. */
export function readDay(value) {
  const moment = Date.parse(`${readMatch(value, DAY)}T00:00:00Z`);
  // A browser takes 31 February for 3 March.
  must(!Number.isNaN(moment) && new Date(moment).toISOString().startsWith(value));
  return moment;
}

/** Items with a name each, all different. */
export function readNames(items) {
  const names = items.map((item) => item.name);
  must(new Set(names).size === names.length);
  return names;
}
