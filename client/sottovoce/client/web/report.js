import { sha256 } from "./digest.js";
import { BudgetExhausted } from "./errors.js";

const REPORT_FORMAT = "sottovoce-report/1";

/**
 * The body to send: canonical, and padded with spaces to a length that depends on the survey alone, so that the
 * length says nothing more than the values do. ASCII, so characters are bytes.
 *
 * A report is `{ survey, digest, wave, reportId, values }`.
 */
export function dumpReport(report, survey) {
  return spellReport(report).padEnd(reportLength(survey, report.wave));
}

/** Length in bytes of every report of this survey and wave. */
export function reportLength(survey, wave) {
  const values = survey.questions.map((question) => question.largest);
  const largest = { survey: survey.name, digest: survey.digest, wave, reportId: "0".repeat(32), values };
  return spellReport(largest).length;
}

/**
 * The report in a stored body.
 *
 * @throws {BudgetExhausted} damaged; it may stand for a report already sent, so it is no reason to draw again
 */
export function parseReport(body) {
  try {
    const { survey, digest, wave, report_id: reportId, values } = JSON.parse(body);
    const report = { survey, digest, wave, reportId, values };
    if (Array.isArray(values) && spellReport(report) === body.trimEnd()) return report;
  } catch {
    // Told below, in the same words as any other damage.
  }
  throw new BudgetExhausted("error_ledger");
}

/** What the aggregator must answer to this body, key by key. */
export async function expectedReceipt(body) {
  const report = parseReport(body);
  return {
    format: "sottovoce-receipt/1",
    survey: report.survey,
    digest: report.digest,
    wave: report.wave,
    report_id: report.reportId,
    sha256: await sha256(body),
  };
}

function spellReport({ survey, digest, wave, reportId, values }) {
  return JSON.stringify({ format: REPORT_FORMAT, survey, digest, wave, report_id: reportId, values });
}
