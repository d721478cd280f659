/**
 * A column in 0 .. K - 1, likelier one of option `value`.
 *
 * Epsilon: `mechanism.epsilon`. Bytes: those of one pick and of below(K / 2), whatever the truth.
 */
export function randomizeHadamardResponse(mechanism, value, draws) {
  const own = draws.pick(mechanism.inclusion);
  return mechanism.column(value, own, draws.below(mechanism.columns / 2));
}
