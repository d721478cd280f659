/**
 * A category in 0 .. k - 1, with the channel's weights for `value`.
 *
 * Epsilon: `mechanism.epsilon`. Bytes: those of below(denominator), whatever the truth.
 */
export function randomizeKaryRR(mechanism, value, draws) {
  return draws.pick(mechanism.weights(value));
}
