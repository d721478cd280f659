/**
 * 0 or 1, for the least or the largest value, when the truth is step `value`.
 *
 * Epsilon: `mechanism.epsilon`. Bytes: those of below(steps), also where nothing is to be rounded, and of the bit's
 * pick, whatever the truth.
 */
export function randomizeRoundingRR(mechanism, value, draws) {
  return draws.pick(mechanism.weights(draws.pick(mechanism.ends(value))));
}
