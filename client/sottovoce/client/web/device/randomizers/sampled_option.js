import { bitOf } from "../../survey/answers.js";

/**
 * `2 * option + bit` for one of the options, when the mask of the chosen ones is `value`.
 *
 * Epsilon: `mechanism.epsilon`. Bytes: those of below(k) and of the bit's pick, whatever the truth.
 */
export function randomizeSampledOption(mechanism, value, draws) {
  const option = draws.below(mechanism.options);
  return 2 * option + draws.pick(mechanism.weights(bitOf(value, option)));
}
