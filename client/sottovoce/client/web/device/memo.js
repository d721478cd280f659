import { BudgetExhausted } from "../survey/errors.js";
import { recorded } from "./ledger.js";
import { memorize } from "./randomizers/memoized_rr.js";

// In the place of the wave in a key: what is remembered for all of them.
const MEMO = -1;

/**
 * The permanent answers [no, yes] by the index of each memoized question, drawn and charged before the first report
 * that makes use of them; null if the survey needs none. See the Python twin.
 *
 * @throws {BudgetExhausted} drawn for another text of the survey, forgotten, or not to be read
 */
export async function keepMemo(ledger, key, survey, draws) {
  if (survey.memoized.length === 0) return null;
  const body = [...drawMemo(survey, draws).values()].flat().join("");
  await ledger.record(memoKey(key), { digest: survey.digest, epsilon: survey.epsilonOfMemo, body, sent: true });
  const kept = await checkMemo(ledger, key, survey);
  if (kept === null) throw new BudgetExhausted("error_ledger");
  return kept;
}

/** What was kept, or null; nothing is drawn. It throws as `keepMemo` does. */
export async function checkMemo(ledger, key, survey) {
  const entry = await recorded(ledger, memoKey(key), survey.digest);
  if (entry === null) return null;
  if (entry.ended) throw new BudgetExhausted("error_memo");
  const digits = [...String(entry.body)].map((digit) => "01".indexOf(digit));
  if (digits.length !== 2 * survey.memoized.length || digits.includes(-1)) throw new BudgetExhausted("error_ledger");
  return new Map(survey.memoized.map((index, place) => [index, digits.slice(2 * place, 2 * place + 2)]));
}

/** Wipe it; no further wave is answered. */
export async function forgetMemo(ledger, key) {
  await ledger.end(memoKey(key), "forgotten");
}

/** A memo drawn anew. */
export function drawMemo(survey, draws) {
  return new Map(survey.memoized.map((index) => [index, memorize(survey.questions[index].mechanism, draws)]));
}

function memoKey([origin, name, , token]) {
  return [origin, name, MEMO, token];
}
