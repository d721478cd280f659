import { bitOf, maskOf } from "../../survey/answers.js";

/**
 * A mask of all options, when the mask of the chosen ones is `value`.
 *
 * Epsilon: `mechanism.epsilon`, which counts on at most max_choices options chosen.
 * Bytes: those of k picks, from option 0 on, whatever the truth.
 */
export function randomizeBitwiseRR(mechanism, value, draws) {
  return drawBits(mechanism, value, draws);
}

/** A mask with a bit for each option, from option 0 on, each with the weights of its own truth. */
export function drawBits(mechanism, value, draws) {
  const bits = mechanism.selectedBits(value);
  const options = [...Array(mechanism.options).keys()];
  return maskOf(options.filter((option) => draws.pick(mechanism.weights(bitOf(bits, option)))));
}
