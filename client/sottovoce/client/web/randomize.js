import { RANDOMIZERS } from "./randomizers/index.js";

/** The report for these true values: the id is drawn first, then each question in order. */
export function randomize(survey, values, draws, wave = 0) {
  survey.questions.forEach((question, index) => question.check(values[index]));
  const report_id = draws.identity();
  const reported = survey.questions.map((question, index) => perturb(question, values[index], draws, survey.ownCoin));
  return { survey: survey.name, digest: survey.digest, wave, report_id, values: reported };
}

function perturb(question, value, draws, ownCoin) {
  // Whoever has tossed a coin of their own gives its result: a second toss here would be another channel.
  if (question.mechanism === null || ownCoin) return value;
  return RANDOMIZERS.get(question.mechanism.name)(question.mechanism, value, draws);
}
