import { randomizeBinaryRR } from "./binary_rr.js";
import { randomizeBitwiseRR } from "./bitwise_rr.js";
import { randomizeGeometric } from "./geometric.js";
import { randomizeHadamardResponse } from "./hadamard_response.js";
import { randomizeKaryRR } from "./kary_rr.js";
import { randomizeLevelTable } from "./level_table.js";
import { randomizeRoundingRR } from "./rounding_rr.js";
import { randomizeSampledCoordinate } from "./sampled_coordinate.js";
import { randomizeSampledOption } from "./sampled_option.js";
import { randomizeSquareWave } from "./square_wave.js";
import { randomizeSubsetSelection } from "./subset_selection.js";

/** The closed list of randomizers, one per mechanism: (mechanism, value, draws) -> reported value. */
export const RANDOMIZERS = new Map([
  ["binary_rr", randomizeBinaryRR],
  ["kary_rr", randomizeKaryRR],
  ["subset_selection", randomizeSubsetSelection],
  ["hadamard_response", randomizeHadamardResponse],
  ["sampled_option", randomizeSampledOption],
  ["bitwise_rr", randomizeBitwiseRR],
  ["rounding_rr", randomizeRoundingRR],
  ["level_table", randomizeLevelTable],
  ["square_wave", randomizeSquareWave],
  ["geometric", randomizeGeometric],
  ["sampled_coordinate", randomizeSampledCoordinate],
]);

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
