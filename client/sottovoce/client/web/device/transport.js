import { Draws } from "./draws.js";
import { TransportError } from "../survey/errors.js";

const TRIES = 5;
const MAX_WAIT = 60;
const TIMEOUT = 40_000;

// No cookie, no referrer, no cache; and a redirect would carry the report where the respondent has not agreed to.
const DISCREET = { credentials: "omit", redirect: "error", referrerPolicy: "no-referrer", cache: "no-store" };

/** The only place that speaks to the network; it sees finished reports, never an answer. */
export class Transport {
  #fetch;
  #sleep;

  constructor(origin, request = (url, options) => fetch(url, options), sleep = pause) {
    this.origin = origin;
    this.#fetch = request;
    this.#sleep = sleep;
  }

  /** Where a survey is. */
  address(name) {
    return `${this.origin}/api/v1/surveys/${name}`;
  }

  /** The survey's canonical bytes. */
  async fetchSurvey(name) {
    const reply = await this.#try(`/api/v1/surveys/${name}`, { method: "GET" });
    return new Uint8Array(await reply.arrayBuffer());
  }

  /** The receipt for a report's body; every try sends the same bytes and the same token. */
  async submit(survey, body, token) {
    // A header, never the address: addresses end up in logs.
    return this.#post(`${survey}/reports`, body, token ? { Authorization: `Bearer ${token}` } : {});
  }

  /** The confirmation that the report with this id is withdrawn. */
  async withdraw(survey, report_id) {
    return this.#post(`${survey}/withdraw`, JSON.stringify({ report_id }), {});
  }

  async #post(path, body, more) {
    const headers = { "Content-Type": "application/json", ...more };
    const reply = await this.#try(`/api/v1/surveys/${path}`, { method: "POST", headers, body });
    try {
      return await reply.json();
    } catch {
      throw new TransportError("error_receipt", reply.status);
    }
  }

  // One request, repeated with waits of 1, 2, 4, 8 s and jitter while it may help; a 4xx is final.
  async #try(path, options) {
    for (let attempt = 0; ; attempt += 1) {
      const reply = await this.#once(path, options);
      if (reply?.status === 200) return reply;
      if (!mayPass(reply) || attempt + 1 === TRIES) throw await refusal(reply);
      await this.#sleep(secondsToWait(attempt, reply));
    }
  }

  async #once(path, options) {
    try {
      return await this.#fetch(this.origin + path, { ...DISCREET, ...options, signal: AbortSignal.timeout(TIMEOUT) });
    } catch {
      return null;
    }
  }
}

function mayPass(reply) {
  // Without a network, waiting for one is left to the page.
  if (reply === null) return globalThis.navigator?.onLine !== false;
  return reply.status === 429 || reply.status >= 500;
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
  const sentence = { closed: "error_closed", token_invalid: "error_token" }[code] ?? "error_refused";
  return new TransportError(sentence, reply.status, code);
}

function pause(seconds) {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}
