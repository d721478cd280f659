/**
 * An output in 0 .. bins + 2 width - 1, when the truth is step `value`.
 *
 * Epsilon: `mechanism.epsilon`. Bytes: those of below(sum of a row), whatever the truth.
 */
export function randomizeSquareWave(mechanism, value, draws) {
  return draws.pick(mechanism.weights(value));
}
