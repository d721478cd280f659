import { SurveyError } from "../survey/errors.js";
import { writeCode } from "./code.js";
import { toColumns } from "./columns.js";
import { recordOf } from "./core.js";

const PASSED = /^[A-Za-z0-9_-]{1,64}$/;
const ANYBODYS = [
  "docs.google.com", "enketo.org", "forms.cloud.microsoft", "forms.gle", "forms.office.com", "jotform.com",
  "kobotoolbox.org",
  "limesurvey.net", "qualtrics.com", "soscisurvey.de", "surveymonkey.com", "tally.so", "typeform.com", "unipark.de",
];

/** Whether forms of anybody are at this host, so that its name says nothing of who reads one. */
export function isAnybodys(host) {
  return ANYBODYS.some((name) => `.${host}`.endsWith(`.${name}`));
}

/**
 * The values of these parameters, by name.
 *
 * @throws {SurveyError} the address does not name the question, or has anything but them
 */
export function readPassed(names, digest) {
  const found = new URLSearchParams(location.search);
  const values = names.map((name) => found.get(name) ?? "");
  const isWhole = [...found].length === names.length && values.every((value) => PASSED.test(value));
  if (!isWhole || location.hash || !location.pathname.includes(digest)) throw new SurveyError("link_address");
  return Object.fromEntries(names.map((name, place) => [name, values[place]]));
}

/** The code of all reports of a stop; `drawn` is null where nothing was answered. */
export function codeOf(digest, asked, drawn) {
  const all = asked.flatMap(({ questions }) => questions).reduce(times, 1n);
  const kept = (drawn ?? [{}]).map(({ once }) => once || "no");
  // All of them are kept for as long as the one that is forgotten first.
  const once = ["no", "visit"].find((kind) => kept.includes(kind)) ?? "device";
  const join = (whole, { report }, place) => asked[place].questions.reduce(times, whole) + BigInt(report);
  return writeCode(digest, all, drawn?.reduce(join, 0n) ?? null, once);
}

function times(product, { largest }) {
  return product * BigInt(largest + 1);
}

/** What the host's own parameters hold, by name. */
export async function fieldsWith({ channel, code: name, once, value }, [{ document }], drawn, code) {
  if (name !== undefined) return { [name]: code };
  if (value === undefined) return {};
  const held = drawn === null ? {} : toColumns(await recordOf(document, drawn[0].report, drawn[0].once));
  return Object.fromEntries([value, channel, once].map((column, place) => [column, Object.values(held)[place] ?? ""]));
}

/** An address with more parameters: text after text, because the browser would write anew what it has already. */
export function addressWith(address, parameters) {
  const pairs = Object.entries(parameters).map((pair) => pair.map(encodeURIComponent).join("="));
  return address + (pairs.length === 0 || /[?&]$/.test(address) ? "" : address.includes("?") ? "&" : "?") + pairs.join("&");
}
