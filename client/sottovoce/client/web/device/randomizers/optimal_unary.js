import { drawBits } from "./bitwise_rr.js";

/**
 * A mask of all options, when option `value` is true.
 *
 * Epsilon: `mechanism.epsilon`. Bytes: those of k picks, from option 0 on, whatever the truth.
 */
export function randomizeOptimalUnary(mechanism, value, draws) {
  return drawBits(mechanism, value, draws);
}
