import { dumpCanonical } from "../survey/canonical.js";
import { BudgetExhausted, NotYet, TransportError } from "../survey/errors.js";
import { isEarly, signersKey } from "./entries.js";
import { expectedReceipt, parseReport } from "../survey/report.js";

const SIGNED = "signed";
const NAMED = "named";
// By the visit's transport: whether a signature was shown in it, or a token.
const SHOWN = new WeakMap();

/**
 * Send what is recorded for `key`, first time or again: the same bytes. Gives the receipt and the body. It needs no
 * survey: what was drawn is sent whatever has become of that.
 *
 * @throws {TransportError} not acknowledged; where the aggregator refuses for good, the ledger says so from then on
 */
export async function deliver(ledger, transport, key) {
  const entry = await ledger.get(key);
  if (typeof entry?.body !== "string") throw new BudgetExhausted("error_unexpected");
  const expected = await expectedReceipt(entry.body);
  // The tab that recorded it may have ended before it wiped the signature's first copy.
  if (entry.signature) await (await import("./redemption.js")).forgetSignature(ledger, key);
  if (isEarly(entry)) throw new NotYet(entry.sendAt);
  if (entry.sendAt) {
    await ledger.markDue(key);
    // Another tab may have withdrawn it meanwhile without a request: then none is sent now either.
    if ((await ledger.get(key)).ended) throw new BudgetExhausted("error_unexpected");
  }
  const receipt = await submit(ledger, transport, key, entry);
  // Nothing else says that a report has arrived.
  if (dumpCanonical(receipt) !== dumpCanonical(expected)) throw new TransportError("error_receipt");
  await ledger.markSent(key);
  return { ...expected, body: entry.body };
}

/**
 * Take the recorded report back. Asking twice does no harm; the ledger keeps that there was one.
 *
 * @throws {TransportError} not confirmed: it may still count
 */
export async function withdrawReport(ledger, transport, key) {
  const { signature } = await ledger.get(key);
  if (signature) await (await import("./redemption.js")).forgetSignature(ledger, key);
  const { report_id, survey } = parseReport((await ledger.get(key)).body);
  // A report that was never sent is withdrawn without a request: the server does not know it.
  if (await ledger.endUntried(key, "withdrawn")) return;
  const expected = { format: "sottovoce-withdrawal/1", survey, report_id };
  const confirmation = await transport.withdraw(survey, report_id);
  if (dumpCanonical(confirmation) !== dumpCanonical(expected)) throw new TransportError("error_receipt");
  await ledger.end(key, "withdrawn");
}

/**
 * Send the reports that wait in the ledger for this aggregator, the same bytes as ever, but for the one with the key
 * `own`, which the page sends in sight. One that is refused holds up no other, and is not sent again unasked.
 *
 * What arrives in one visit is taken for one person's: so a visit sends one signed report, and no token beside it; and
 * none where its own link has a token or an invitation.
 */
export async function sendWaiting(ledger, transport, own) {
  const waiting = await ledger.waiting(transport.origin);
  // Two kinds may not share a visit: reports with plain tokens go first, because the server can link those anyway.
  waiting.sort(([, one], [, other]) => Boolean(one.signature) - Boolean(other.signature));
  if (own?.[3] && !SHOWN.has(transport)) SHOWN.set(transport, (await ledger.get(signersKey(own))) ? SIGNED : NAMED);
  for (const [key, { signature }] of waiting) {
    if (String(key) === String(own)) continue;
    if (key[3] && !mayShow(transport, signature ? SIGNED : NAMED)) continue;
    await deliver(ledger, transport, key).catch(() => {});
  }
}

// Whether it gives no more away than the visit has shown already; from then on it has shown this too.
function mayShow(transport, kind) {
  const shown = SHOWN.get(transport);
  if (shown !== undefined && (shown === SIGNED || kind === SIGNED)) return false;
  SHOWN.set(transport, kind);
  return true;
}

async function submit(ledger, transport, key, { body, sent, signature }) {
  try {
    if (signature) return await transport.submitSigned(key[1], body, signature);
    // What has arrived is known by its id. Its signature is wiped, and the invitation beside it would say whose it is.
    return await transport.submit(key[1], body, sent ? "" : key[3]);
  } catch (error) {
    if (error.isFinal) await ledger.markRefused(key, error.reason ?? "refused");
    throw error;
  }
}
