import { AnswerError } from "../survey/errors.js";

/**
 * The randomizers, (mechanism, truth, draws, memo) -> report, by mechanism; the rarer ones once `bringRandomizers` has
 * come for them.
 */
export const RANDOMIZERS = new Map([["binary_rr", drawFromRow], ["kary_rr", drawFromRow]]);

/** Have the randomizers of a survey, before its answers are randomized; their files came with the survey. */
export async function bringRandomizers({ memoized, private: places, questions }) {
  if (memoized.length > 0) {
    const { randomizeMemoizedRR } = await import("./memo.js");
    RANDOMIZERS.set("memoized_rr", randomizeMemoizedRR);
  }
  if (questions.some(({ mechanism }) => mechanism?.block)) {
    const { randomizeJointRR } = await import("./joint_rr.js");
    RANDOMIZERS.set("joint_rr", randomizeJointRR);
  }
  if (places.every((index) => RANDOMIZERS.has(questions[index].mechanism.name))) return;
  const { RARE_RANDOMIZERS } = await import("./randomizers.js");
  for (const [name, randomizer] of Object.entries(RARE_RANDOMIZERS)) RANDOMIZERS.set(name, randomizer);
}

/**
 * The report for these truths: the id is drawn first, then each question that is asked, in order, and each
 * block at once.
 *
 * `memo` is what `keepMemo` gives; without it, permanent answers are drawn for this report alone. `signed` is what
 * `signedId` gives: an id that was drawn and signed before.
 */
export function randomize(survey, truths, draws, wave = 0, memo = null, signed = null) {
  // Those that are not asked have null.
  if (!(survey.isAskedSet?.(truths) ?? !truths.includes(null))) throw new AnswerError("error_unexpected");
  survey.questions.forEach((question, index) => truths[index] === null || question.check(truths[index]));
  const report_id = signed?.id ?? draws.identity();
  const reports = survey.questions.flatMap((question, index) =>
    perturb(question, truths.slice(index), draws, survey.ownCoin, memo?.get(index)),
  );
  return { survey: survey.name, digest: survey.digest, wave, report_id, values: reports };
}

// The report of a question, or those of a block that begins with it, if any; `truths` begin with its own.
function perturb(question, truths, draws, ownCoin, memo) {
  const [truth] = truths;
  // What a person's own coin or fact has changed is sent as it is: a second toss here would be another channel.
  if (question.mechanism === null || ownCoin || question.mechanism.procedure) return truth;
  // Those of a block are drawn with the first of them, asked or not.
  if (truth === null && !question.mechanism.block) return truth;
  return RANDOMIZERS.get(question.mechanism.name)(question.mechanism, truth, draws, memo, truths);
}

/**
 * A report by the mechanism's weights for `truth`: 0 or 1, or a category.
 *
 * Epsilon: `mechanism.epsilon`. Bytes: those of below(sum of a row), whatever the truth; coin flip 1.
 */
export function drawFromRow(mechanism, truth, draws) {
  return draws.pick(mechanism.weights(truth));
}
