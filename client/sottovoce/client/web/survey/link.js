import { TransportError } from "./errors.js";
import { parseToken } from "./token.js";

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
