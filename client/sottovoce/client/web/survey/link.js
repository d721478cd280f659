import { TransportError } from "./errors.js";

const LINK_PATH = /^(.*)\/s\/([a-z0-9][a-z0-9_-]{0,63})\/?$/;
const LINK_DIGEST = /^([0-9a-f]{32})?$/;
// What a mail program may take for a part of the link: the end of a sentence or of brackets.
const LINK_END = /(?:[.,>)]|%3E)+$/;
const LINK_WAVE = /^(0|[1-9][0-9]{0,3})$/;

/**
 * What the page's own address says: `{ origin, survey, digest, token, wave }`, from
 * https://host/s/{survey}#d={32 digits}&t={token}&w={wave}. The fragment reaches no server.
 *
 * A page from elsewhere is set up with its `aggregator`, and is given the survey's name as #s={survey}&d=..., or holds
 * the survey.
 *
 * @throws {TransportError} not a link to a survey, or its digest or wave has another form, its token is mistyped
 */
export function parseLink(href, { aggregator, survey: held = {} } = {}) {
  const url = new URL(href);
  const fragment = new URLSearchParams(url.hash.slice(1).replace(LINK_END, ""));
  const base = aggregator ?? url.origin;
  const path = aggregator ? `/s/${held.name ?? fragment.get("s") ?? ""}` : url.pathname;
  const match = LINK_PATH.exec(path);
  if (match === null) throw new TransportError("error_link");
  const read = (key, pattern, otherwise) => {
    const value = fragment.get(key) ?? otherwise;
    if (!pattern.test(value)) throw new TransportError("error_link");
    return value;
  };
  const digest = read("d", LINK_DIGEST, held.digest ?? "");
  const [token, wave] = [readToken(fragment.get("t") ?? "", match[2]), read("w", LINK_WAVE, "0")];
  return { origin: base + match[1], survey: match[2], digest, token, wave: Number(wave) };
}

// An empty token is none. Check letters find typing errors here, without a request.
function readToken(text, survey) {
  try {
    return text && parseToken(text, survey);
  } catch {
    throw new TransportError("error_link");
  }
}

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const TYPED = /^[0-9A-Za-z-]*$/;
const CANONICAL = /^([0-9A-HJKMNP-TV-Z]{16})([0-9A-HJKMNP-TV-Z]{2})?$/;

/**
 * A token's one spelling, 16 letters, from what was typed: in lower case, with hyphens, with letters that look like 0
 * and 1, and with or without the two check letters over the survey's name and the token.
 *
 * @throws {RangeError} not a token for the survey of this name
 */
export function parseToken(text, survey) {
  const spelled = TYPED.test(text) ? text.toUpperCase().replaceAll("-", "").replaceAll("O", "0").replace(/[IL]/g, "1") : "";
  const match = CANONICAL.exec(spelled);
  if (match === null || ![undefined, checkLetters(match[1], survey)].includes(match[2])) throw new RangeError();
  return match[1];
}

// The number that the text spells to the base 37, modulo a prime: every wrong letter and every swap of two moves it.
function checkLetters(token, survey) {
  const value = Array.from(`${survey}/${token}`).reduce((sum, letter) => (sum * 37 + letter.codePointAt(0)) % 1021, 0);
  return ALPHABET[Math.floor(value / 32)] + ALPHABET[value % 32];
}
