// What must hold of every run of a survey whose reports come with a signature: nothing leads from the invitation, or
// from what was sent to be signed, to the report. The twin of redeemed_runs.py.
import { blindedOf, isSigned } from "./javascript_signer.mjs";

/**
 * The kinds of what is wrong with how one run redeems and reports; empty if nothing is.
 *
 * @param drawn the random bytes of the redemption, among what else is known of the run
 */
export function whatRedemptionTells(events, { api, document, drawn, isBlind, token }) {
  if (!isBlind) return [];
  const requests = events.filter(([kind]) => kind === "request");
  const asked = requests.filter(([, , address]) => address === `${api}/redeem`);
  const [body, ...others] = new Set(asked.map((request) => request[4]));
  const { blinded, invitation } = read(body);
  const { length: count } = document.waves ?? [null];
  if (others.length > 0 || blinded.length !== count || invitation !== token) return ["redeemed"];
  if (String(blinded) !== String(blindedOf(document, drawn))) return ["blinded"];
  return whatReportTells(events, requests, { api, document, telling: [token, ...blinded] });
}

// What goes with the report, and what lies on the device.
function whatReportTells(events, requests, { api, document, telling }) {
  const sent = requests.filter(([, , address]) => address === `${api}/reports`);
  const said = new Set(sent.map(headerOf));
  const [header] = said;
  if (said.size !== 1 || !isSigned({ access: document.access }, sent[0][4], header)) return ["signed"];
  const isTold = (request) => telling.some((told) => request.slice(2, 5).some((part) => part.includes(told)));
  if (requests.some((request) => request[2] !== `${api}/redeem` && isTold(request))) return ["besides"];
  return isKept(events, header.split(" ").at(-1), telling.slice(1)) ? ["longer"] : [];
}

const NONE = { blinded: [], invitation: null };

function read(body) {
  try {
    const { format, digest, invitation, blinded } = JSON.parse(body);
    // Nothing else, and in its one spelling.
    const isAgreed = JSON.stringify({ format, digest, invitation, blinded }) === body;
    return isAgreed ? { blinded, invitation } : NONE;
  } catch {
    return NONE;
  }
}

function headerOf([, , , headers]) {
  return new Map(JSON.parse(headers)).get("Authorization") ?? "";
}

// The signature takes the place of what was sent for it in one write, and goes with the receipt. The invitation is in
// the ledger's key, as every token is.
function isKept(events, signature, blinded) {
  return events.some(([kind, what, ...more]) => {
    if (kind !== "kept" && kind !== "write") return false;
    const isOver = kind === "kept" && what !== "waiting";
    const records = more.filter((text) => text.includes(signature));
    return records.some((text) => isOver || blinded.some((each) => text.includes(each)));
  });
}
