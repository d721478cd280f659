import { sha256 } from "./canonical.js";
import { BudgetExhausted } from "./errors.js";

const REPORT_FORMAT = "sottovoce-report/1";

/**
 * The body to send: canonical, and padded with spaces to a length that depends on the survey alone, so that the
 * length says nothing more than the values do. ASCII, so characters are bytes.
 *
 * A report is `{ survey, digest, wave, report_id, values }`, as on the wire.
 */
export function dumpReport(report, survey) {
  return spellReport(report).padEnd(reportLength(survey, report.wave));
}

/** Length in bytes of every report of this survey and wave. */
export function reportLength(survey, wave) {
  const values = longest(survey);
  return spellReport({ survey: survey.name, digest: survey.digest, wave, report_id: "0".repeat(32), values }).length;
}

/**
 * The report in a stored body.
 *
 * @throws {BudgetExhausted} damaged; it may stand for a report already sent, so it is no reason to draw again
 */
export function parseReport(body) {
  try {
    const report = JSON.parse(body);
    if (Array.isArray(report.values) && spellReport(report) === body.trimEnd()) return report;
  } catch {
    // Told below, in the same words as any other damage.
  }
  throw new BudgetExhausted("error_ledger");
}

/** What the aggregator must answer to this body, key by key. */
export async function expectedReceipt(body) {
  const { survey, digest, wave, report_id } = parseReport(body);
  return { format: "sottovoce-receipt/1", survey, digest, wave, report_id, sha256: await sha256(body) };
}

// The values of the longest report.
function longest(survey) {
  const unasked = survey.unaskedInLongest ?? [];
  return survey.questions.map(({ largest }, index) => (unasked.includes(index) ? null : largest));
}

function spellReport({ survey, digest, wave, report_id, values }) {
  return JSON.stringify({ format: REPORT_FORMAT, survey, digest, wave, report_id, values });
}
