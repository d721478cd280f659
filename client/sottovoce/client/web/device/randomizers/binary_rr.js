/**
 * 0 or 1, with the channel's weights for `value`.
 *
 * Epsilon: `mechanism.epsilon`. Bytes: those of below(denominator), whatever the truth; coin flip 1.
 */
export function randomizeBinaryRR(mechanism, value, draws) {
  return draws.pick(mechanism.weights(value));
}
