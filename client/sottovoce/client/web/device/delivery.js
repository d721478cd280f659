import { dumpCanonical } from "../survey/canonical.js";
import { BudgetExhausted, TransportError } from "../survey/errors.js";
import { expectedReceipt, parseReport } from "../survey/report.js";

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
  const receipt = await submit(ledger, transport, key, entry.body);
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
  const { report_id, survey } = parseReport((await ledger.get(key)).body);
  const expected = { format: "sottovoce-withdrawal/1", survey, report_id };
  const confirmation = await transport.withdraw(survey, report_id);
  if (dumpCanonical(confirmation) !== dumpCanonical(expected)) throw new TransportError("error_receipt");
  await ledger.end(key, "withdrawn");
}

/**
 * Send the reports that wait in the ledger for this aggregator, the same bytes as ever, but for the one with the key
 * `own`, which the page sends in sight. One that is refused holds up no other, and is not sent again unasked.
 */
export async function sendWaiting(ledger, transport, own) {
  for (const [key] of await ledger.waiting(transport.origin)) {
    if (String(key) === String(own)) continue;
    await deliver(ledger, transport, key).catch(() => {});
  }
}

async function submit(ledger, transport, key, body) {
  try {
    return await transport.submit(key[1], body, key[3]);
  } catch (error) {
    if (error.isFinal) await ledger.markRefused(key, error.reason ?? "refused");
    throw error;
  }
}
