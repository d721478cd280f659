// The aggregator of an audit's runs: nobody is reached.
import { sha256 } from "./javascript_device.mjs";
import { redeemed } from "./javascript_signer.mjs";

export const ORIGIN = "https://audit.invalid";
const TOKEN = "0".repeat(16);

/** What an aggregator says that serves this one survey. */
export class Site {
  /**
   * `text` is the survey's canonical text; what is answered is the wave. Where reports wait, `present` is the moment of
   * a visit, in seconds since 1970; null where nobody has to look at the clock.
   */
  constructor(text, wave, present = null) {
    const document = JSON.parse(text);
    const { name, access } = document;
    const digest = sha256(text);
    const token = access === "open" ? "" : TOKEN;
    const revisions = JSON.stringify({ format: "sottovoce-revisions/1", revisions: [document], survey: name });
    Object.assign(this, { text, wave, name, digest, token, revisions, document, present });
    this.isBlind = typeof access === "object";
    this.api = `${ORIGIN}/api/v1/surveys/${name}`;
    this.link = { origin: ORIGIN, survey: name, digest: digest.slice(0, 32), token, wave };
  }

  /** Whether a request brings a report. */
  isForReports({ address }) {
    return address === `${this.api}/reports`;
  }

  /** [status, body]; every report is taken. */
  answer({ address, body }) {
    if (address === this.api) return [200, this.text];
    if (address === `${this.api}/revisions`) return [200, this.revisions];
    if (address === `${this.api}/reports`) return [200, receiptFor(body)];
    if (address === `${this.api}/redeem`) return [200, redeemed(this.document, body)];
    if (address === `${this.api}/withdraw`) return [200, confirmationFor(this.name, body)];
    return [404, "{}"];
  }
}

function receiptFor(body) {
  const { survey, digest, wave, report_id } = JSON.parse(body);
  return JSON.stringify({ format: "sottovoce-receipt/1", survey, digest, wave, report_id, sha256: sha256(body) });
}

function confirmationFor(survey, body) {
  const { report_id } = JSON.parse(body);
  return JSON.stringify({ format: "sottovoce-withdrawal/1", survey, report_id });
}
