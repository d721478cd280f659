import { BudgetExhausted } from "../survey/errors.js";

// In the place of the wave in a key: the arm is for all of them.
const ARMS = -4;

/**
 * Index of an arm, with probability proportional to its weight. Bytes: those of pick(weights), before the report's own.
 */
export function drawArm({ arms }, draws) {
  return draws.pick(arms.map(({ weight }) => weight));
}

/**
 * The name of the arm of this respondent: one kept earlier, else one drawn now and kept, under no link, revision or
 * wave, so that none of them gives a second draw; see the Python twin, `question_sample.py`.
 *
 * @throws {BudgetExhausted} the ledger cannot be written or read, or names an arm that the survey does not have
 */
export async function keepArm({ draws, key, ledger, survey }) {
  const wave = survey.document.arms_per_wave ? key[2] : ARMS;
  const names = survey.arms.map(({ name }) => name);
  const kept = await ledger.prepare([key[0], key[1], wave, ""], "arm", () => names[drawArm(survey, draws)]);
  if (!names.includes(kept)) throw new BudgetExhausted("error_ledger");
  return kept;
}
