import { dumpCanonical } from "../survey/canonical.js";
import { expectedReceipt } from "../survey/report.js";

/**
 * Send the reports that wait in the ledger for this aggregator, the same bytes as ever, but for the one with the key
 * `own`, which the page sends in sight. One that is refused waits on, and does not hold up the others.
 */
export async function sendWaiting(ledger, transport, own) {
  for (const [key, { body }] of await ledger.waiting(transport.origin)) {
    if (String(key) === String(own)) continue;
    await sendOne(ledger, transport, key, body).catch(() => {});
  }
}

async function sendOne(ledger, transport, key, body) {
  const [, survey, , token] = key;
  const expected = await expectedReceipt(body);
  const receipt = await transport.submit(survey, body, token);
  if (dumpCanonical(receipt) === dumpCanonical(expected)) await ledger.markSent(key);
}
