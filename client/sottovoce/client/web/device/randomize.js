import { AnswerError } from "../survey/errors.js";
import { RANDOMIZERS } from "../registry.js";

/**
 * The report for these true values: the id is drawn first, then each question that is asked, in order.
 *
 * `memo` is what `keepMemo` gives; without it, permanent answers are drawn for this report alone. `signed` is what
 * `signedId` gives: an id that was drawn and signed before.
 */
export function randomize(survey, values, draws, wave = 0, memo = null, signed = null) {
  if (!survey.asksFor(values)) throw new AnswerError("error_unexpected");
  survey.questions.forEach((question, index) => values[index] === null || question.check(values[index]));
  const report_id = signed?.id ?? draws.identity();
  const reported = survey.questions.map((question, index) =>
    perturb(question, values[index], draws, survey.ownCoin, memo?.get(index)),
  );
  return { survey: survey.name, digest: survey.digest, wave, report_id, values: reported };
}

function perturb(question, value, draws, ownCoin, memo) {
  // People who tossed their own coin enter its result: a second toss here would be another channel.
  if (question.mechanism === null || value === null || ownCoin) return value;
  return RANDOMIZERS.get(question.mechanism.name)(question.mechanism, value, draws, memo);
}
