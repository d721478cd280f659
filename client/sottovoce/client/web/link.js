import { TransportError } from "./errors.js";

const LINK_PATH = /^(.*)\/s\/([a-z0-9][a-z0-9_-]{0,63})\/?$/;
const LINK_DIGEST = /^[0-9a-f]{32}$/;
const LINK_WAVE = /^(0|[1-9][0-9]{0,3})$/;
const LINK_TOKEN = /^([0-9A-HJKMNP-TV-Z]{16})?$/;

/**
 * What the page's own address says: `{ origin, survey, digest, token, wave }`, from
 * https://host/s/{survey}#d={32 digits}&t={token}&w={wave}. The fragment reaches no server.
 *
 * @throws {TransportError} not a link to a survey, or its digest, token or wave has another form
 */
export function parseLink(href) {
  const url = new URL(href);
  const match = LINK_PATH.exec(url.pathname);
  if (match === null) throw new TransportError("error_link");
  const fragment = new URLSearchParams(url.hash.slice(1));
  const digest = fragment.get("d") ?? "";
  if (digest !== "" && !LINK_DIGEST.test(digest)) throw new TransportError("error_link");
  const token = fragment.get("t") ?? "";
  if (!LINK_TOKEN.test(token)) throw new TransportError("error_link");
  const wave = fragment.get("w") ?? "0";
  if (!LINK_WAVE.test(wave)) throw new TransportError("error_link");
  return { origin: url.origin + match[1], survey: match[2], digest, token, wave: Number(wave) };
}
