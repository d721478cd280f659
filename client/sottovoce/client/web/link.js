import { TransportError } from "./errors.js";

const LINK_PATH = /^(.*)\/s\/([a-z0-9][a-z0-9_-]{0,63})\/?$/;
const LINK_DIGEST = /^[0-9a-f]{32}$/;

/**
 * What the page's own address says: `{ origin, survey, digest }`, from https://host/s/{survey}#d={32 digits}.
 *
 * The fragment reaches no server. A token in it is not read: while surveys are open to all, it would only buy a
 * second draw.
 *
 * @throws {TransportError} not a link to a survey, or a digest that is not 32 hexadecimal digits
 */
export function parseLink(href) {
  const url = new URL(href);
  const match = LINK_PATH.exec(url.pathname);
  if (match === null) throw new TransportError("error_link");
  const digest = new URLSearchParams(url.hash.slice(1)).get("d") ?? "";
  if (digest !== "" && !LINK_DIGEST.test(digest)) throw new TransportError("error_link");
  return { origin: url.origin + match[1], survey: match[2], digest };
}
