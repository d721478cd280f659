import { Draws } from "./draws.js";
import { sha256 } from "../survey/canonical.js";
import { PASSING, TransportError } from "../survey/errors.js";

const TRIES = 5;
const MAX_WAIT = 60;
const TIMEOUT = 10_000;
// Time limit for requests before the first question, while the person waits.
const SOON = 8000;

// No cookie, no referrer, no cache; and a redirect would carry the report where the respondent has not agreed to.
const JSON_TYPE = { "Content-Type": "application/json" };
const DISCREET = { credentials: "omit", redirect: "error", referrerPolicy: "no-referrer", cache: "no-store" };

/** The only place that speaks to the network; it sees finished reports, never an answer. */
export class Transport {
  #fetch;
  #sleep;

  /** The bytes of the surveys that this visit was given, by the addresses where they came from. */
  used = new Map();

  constructor(origin, request = (url, options) => fetch(url, options), sleep = pause) {
    this.origin = origin;
    this.#fetch = request;
    this.#sleep = sleep;
  }

  /** Where a survey is: its newest revision, and all of them. */
  addresses(name) {
    return ["", "/revisions"].map((part) => `${this.origin}/api/v1/surveys/${name}${part}`);
  }

  /** The canonical bytes of the survey's newest revision. */
  async fetchSurvey(name, tries = TRIES) {
    return this.#get(name, tries);
  }

  /** All published revisions in one document, as bytes: which of them is wanted, no request says. */
  async fetchRevisions(name, tries = TRIES) {
    return this.#get(`${name}/revisions`, tries);
  }

  /** Which revisions answer, and when; null where the aggregator is too old to say. Asked once, without a retry. */
  async fetchStatus(name) {
    const options = { method: "GET", signal: AbortSignal.timeout(SOON) };
    return this.#known(`/api/v1/surveys/${name}/status`, options);
  }

  /** The pieces of the page in one file, the same for everybody; see `saving.js`. */
  async fetchSavedPage() {
    const reply = await this.#try("/assets/saved.json", { method: "GET" }, 1);
    return reply.json();
  }

  /**
   * Ask whether a token is good: its SHA-256 goes, in a body. Asked once, without a retry.
   *
   * @throws {TransportError} it is not, or the aggregator cannot be reached
   */
  async checkToken(name, token) {
    const body = JSON.stringify({ token_sha256: await sha256(token) });
    const options = { method: "POST", headers: JSON_TYPE, body, signal: AbortSignal.timeout(SOON) };
    await this.#known(`/api/v1/surveys/${name}/token`, options);
  }

  /** The receipt for a report's body; every try sends the same bytes and the same token. */
  async submit(survey, body, token) {
    // A header, never the address: addresses end up in logs.
    return this.#post(`${survey}/reports`, body, token ? { Authorization: `Bearer ${token}` } : {});
  }

  /** The same for a report whose id is signed. */
  async submitSigned(survey, body, signature) {
    return this.#post(`${survey}/reports`, body, { Authorization: `Blind ${signature}` });
  }

  /** The text of the reply to a request for signatures; every try sends the same bytes. */
  async redeem(survey, body) {
    const options = { method: "POST", headers: JSON_TYPE, body };
    return (await this.#try(`/api/v1/surveys/${survey}/redeem`, options)).text();
  }

  /** The confirmation that the report with this id is withdrawn. */
  async withdraw(survey, report_id) {
    return this.#post(`${survey}/withdraw`, JSON.stringify({ report_id }), {});
  }

  async #post(path, body, more) {
    const headers = { ...JSON_TYPE, ...more };
    const reply = await this.#try(`/api/v1/surveys/${path}`, { method: "POST", headers, body });
    try {
      return await reply.json();
    } catch {
      throw new TransportError("error_receipt", reply.status);
    }
  }

  async #get(path, tries) {
    const address = `/api/v1/surveys/${path}`;
    const reply = await this.#try(address, { method: "GET" }, tries);
    const bytes = new Uint8Array(await reply.arrayBuffer());
    this.used.set(this.origin + address, bytes);
    return bytes;
  }

  async #known(path, options) {
    const reply = await this.#once(path, options);
    if (reply?.status === 200) return reply.json().catch(() => null);
    if (reply?.status === 404) return null;
    throw await refusal(reply);
  }

  // One request, repeated with waits of 1, 2, 4, 8 s and jitter while it may help and some seconds have not passed; any
  // other 4xx is final.
  async #try(path, options, tries = TRIES) {
    const start = performance.now();
    for (let attempt = 0; ; attempt += 1) {
      const reply = await this.#once(path, options);
      if (reply?.status === 200) return reply;
      if (!mayPass(reply) || attempt + 1 >= tries || performance.now() - start >= TIMEOUT) throw await refusal(reply);
      await this.#sleep(secondsToWait(attempt, reply));
    }
  }

  async #once(path, options) {
    try {
      return await this.#fetch(this.origin + path, { signal: AbortSignal.timeout(TIMEOUT), ...DISCREET, ...options });
    } catch {
      return null;
    }
  }
}

function mayPass(reply) {
  // Without a network, waiting for one is left to the page.
  if (reply === null) return globalThis.navigator?.onLine !== false;
  return PASSING.includes(reply.status) || reply.status >= 500;
}

/** What the aggregator asks for, up to a minute, else 2^attempt; with up to half as much again. */
export function secondsToWait(attempt, reply) {
  const asked = reply?.headers.get("Retry-After") ?? "";
  const seconds = /^[0-9]{1,9}$/.test(asked) ? Math.min(Number(asked), MAX_WAIT) : 2 ** attempt;
  return seconds * (1 + new Draws().below(500) / 1000);
}

// The aggregator's own words are not shown: only a code of known form, and the status.
async function refusal(reply) {
  if (reply === null) return new TransportError("error_unreachable");
  const problem = await reply.json().catch(() => null);
  const code = typeof problem?.code === "string" && /^[a-z_]{1,40}$/.test(problem.code) ? problem.code : null;
  const sentence = code === null && reply.status >= 500 ? "error_server" : sentenceOf(code);
  return new TransportError(sentence, reply.status, code);
}

/** What is said of a refusal with this code: words, never the code. */
export function sentenceOf(code) {
  const known = { closed: "error_closed", token_invalid: "status_token", unknown_survey: "error_no_survey" };
  return Object.hasOwn(known, code) ? known[code] : "error_refused";
}

/** Wait so many seconds. */
export function pause(seconds) {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}
