import { bitsOfModulus, bytesOf, integerOf } from "./blind_signatures.js";
import { readFields, readInteger, readItems } from "./checks.js";
import { must } from "./rational.js";

const REQUEST_FORMAT = "sottovoce-redeem/1";
const REPLY_FORMAT = "sottovoce-redemption/1";
const LABEL = "sottovoce-blind/1\0";
const MODULUS_SIZES = [2048, 3072];
const SPELT = /^[0-9A-Za-z_-]+$/;

/** What a signature is of: the survey's wave, by its modulus, and one report, by the 32 digits of its id. */
export async function message(modulus, report_id) {
  const digest = await crypto.subtle.digest("SHA-256", bytesOf(modulus, bitsOfModulus(modulus) / 8));
  return Uint8Array.from([
    ...new TextEncoder().encode(LABEL), ...new Uint8Array(digest), ...bytesOf(BigInt(`0x${report_id}`), 16),
  ]);
}

/** Base64url without padding, as moduli, blinded ids and signatures are written. */
export function spell(bytes) {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/**
 * The bytes of a modulus, a blinded id or a signature.
 *
 * @throws {RangeError} not the one spelling of as many bytes as a modulus may have
 */
export function readNumber(text) {
  must(typeof text === "string" && SPELT.test(text) && text.length % 4 !== 1);
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.codePointAt(0));
  must(MODULUS_SIZES.includes(bytes.length * 8) && spell(bytes) === text);
  return bytes;
}

/** A modulus that a survey may name: of 2048 or 3072 bits exactly, and odd. */
export function readModulus(text) {
  const modulus = integerOf(readNumber(text));
  must(MODULUS_SIZES.includes(bitsOfModulus(modulus)) && modulus % 2n === 1n);
  return modulus;
}

/** Refuse a survey whose access does not name one modulus for each wave, all different; it knows them from now on. */
export function readBlind({ access }, survey) {
  const { blind: listed } = readFields(access, ["blind"]);
  survey.moduli = readItems(listed, survey.waves, survey.waves).map(readModulus);
  must(new Set(listed).size === listed.length);
}

/** Refuse times of waiting that are out of range, and both kinds of them together. */
export function readWaiting({ send_at_seconds: seconds, send_within_hours: hours }) {
  if (hours === undefined) readInteger(seconds, 10, 3600);
  else must(seconds === undefined && readInteger(hours, 1, 168));
}

/** The bytes to send, as text: `blinded` are as many as the survey has waves. */
export function dumpRequest(digest, invitation, blinded) {
  return JSON.stringify({ format: REQUEST_FORMAT, digest, invitation, blinded: blinded.map(spell) });
}

/**
 * The signed numbers in a reply for the survey of this name, exactly as the aggregator's program writes it.
 *
 * @throws {RangeError} it is none, or for another survey
 */
export function parseReply(text, survey) {
  try {
    const { signed } = JSON.parse(text);
    const numbers = signed.map(readNumber);
    must(JSON.stringify({ format: REPLY_FORMAT, survey, signed }) === text);
    return numbers;
  } catch {
    throw new RangeError();
  }
}
