// An aggregator without a network for the browser's client, honest unless it is told: the twin of the Python client's,
// in pretended_aggregator.py.
import { sha256 } from "./javascript_device.mjs";
import { isSigned, redeemed } from "./javascript_signer.mjs";
import { ORIGIN } from "./javascript_site.mjs";

const BEARER = "Bearer ";
// In the place of a link, where a report should carry the signature of its id and nothing else, and does not.
const ASTRAY = "astray";
// The same few texts are asked about again and again.
const known = new Map();

function about(text) {
  if (!known.has(text)) known.set(text, { document: JSON.parse(text), digest: sha256(text) });
  return known.get(text);
}

/** What it holds, and in `wire` what has passed: ["sent", token, body], and so on as in pretended_aggregator.py. */
export class Aggregator {
  isRefusing = false;
  // What is signed is no signature.
  isMarring = false;
  // It is too busy to sign.
  isBusy = false;
  // Which of the person's links is used: a signature does not tell.
  link = "";
  isUnreachable = false;
  wire = [];

  /** `texts` are the survey's versions, newest first; `stored` bodies by id, "" if withdrawn; `spent` ids by token. */
  constructor(texts, stored, spent) {
    Object.assign(this, { texts, stored: new Map(stored), spent: new Map(spent) });
  }

  get name() {
    return about(this.texts[0]).document.name;
  }

  get digest() {
    return about(this.texts[0]).digest;
  }

  /** A request leaves the device. */
  left({ address, headers, body }) {
    if (isForReports(address)) this.wire.push(["sent", this.#linkOf(headers, body), body]);
    if (!address.endsWith("/redeem")) return;
    const { blinded, invitation } = JSON.parse(body);
    this.wire.push(["redeemed", invitation, blinded.join()]);
  }

  /** The reply to a request is read on the device. */
  reached({ address, body }, status) {
    if (isForReports(address) && status === 200) this.wire.push(["told", JSON.parse(body).report_id, ""]);
  }

  /** [status, body], or null where it cannot be reached. */
  answer({ address, headers, body }) {
    if (this.isUnreachable) return null;
    const api = `${ORIGIN}/api/v1/surveys/${this.name}`;
    if (address === api) return [200, this.texts[0]];
    if (address === `${api}/revisions`) return [200, this.#revisions()];
    if (address === `${api}/withdraw`) return this.#withdrawn(JSON.parse(body).report_id);
    if (address === `${api}/redeem`) return this.#redeemed(body);
    return address === `${api}/reports` ? this.#admitted(body, this.#linkOf(headers, body)) : [404, "{}"];
  }

  get #survey() {
    return about(this.texts[0]).document;
  }

  // An invitation; whatever is asked for is signed, also a second time: it is for the device to ask once.
  #redeemed(body) {
    if (this.isBusy) return refusal(503, "busy");
    return this.isRefusing ? refusal(401, "token_invalid") : [200, redeemed(this.#survey, body, this.isMarring)];
  }

  // Whether a token is good for this report; a signature is whoever has it.
  #isGood(token, report_id) {
    if (!token || typeof this.#survey.access === "object") return true;
    if (!this.spent.has(token)) this.spent.set(token, report_id);
    return this.spent.get(token) === report_id;
  }

  // The link of a report: its token, or, if it is signed as it should be, the one that is used.
  #linkOf(headers, body) {
    const said = new Map(headers).get("Authorization") ?? "";
    if (typeof this.#survey.access !== "object") return tokenOf(said);
    // What has arrived is known by its id, and goes without a signature.
    const isKnown = said === "" && this.stored.get(JSON.parse(body).report_id) === body;
    return isKnown || isSigned(this.#survey, body, said) ? this.link : ASTRAY;
  }

  #revisions() {
    const revisions = this.texts.map((text) => about(text).document);
    return JSON.stringify({ format: "sottovoce-revisions/1", revisions, survey: this.name });
  }

  #withdrawn(report_id) {
    if (!this.stored.has(report_id)) return refusal(404, "not_found");
    this.stored.set(report_id, "");
    return [200, JSON.stringify({ format: "sottovoce-withdrawal/1", survey: this.name, report_id })];
  }

  // In the order of admission that holds for every aggregator.
  #admitted(body, token) {
    const { survey, digest, wave, report_id } = JSON.parse(body);
    if (this.isRefusing) return refusal(401, "token_invalid");
    const kept = this.stored.get(report_id);
    if (kept !== undefined && kept !== body) return kept ? refusal(409, "id_conflict") : refusal(410, "withdrawn");
    if (token === ASTRAY) return refusal(401, "token_invalid");
    if (kept === undefined && !this.#isGood(token, report_id)) return refusal(401, "token_invalid");
    this.stored.set(report_id, body);
    const receipt = { format: "sottovoce-receipt/1", survey, digest, wave, report_id, sha256: sha256(body) };
    return [200, JSON.stringify(receipt)];
  }
}

function isForReports(address) {
  return address.endsWith("/reports");
}

function tokenOf(said) {
  return said.startsWith(BEARER) ? said.slice(BEARER.length) : said;
}

function refusal(status, code) {
  return [status, JSON.stringify({ code })];
}
