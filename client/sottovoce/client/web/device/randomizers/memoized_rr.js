/** The permanent answers for a truth of no and of yes: both, so that what is kept tells nothing of the truth. */
export function memorize(mechanism, draws) {
  return [0, 1].map((truth) => draws.pick(mechanism.permanent.weights(truth)));
}

/**
 * 0 or 1, one wave's report: the permanent answer for `value` through the instantaneous layer.
 *
 * Epsilon: `mechanism.epsilon` covers all waves under one memo. Bytes: one pick of the instantaneous layer, whatever
 * the truth; two of the permanent layer before it, where no memo is given because it is the person's only wave.
 */
export function randomizeMemoizedRR(mechanism, value, draws, memo = memorize(mechanism, draws)) {
  return draws.pick(mechanism.instantaneous.weights(memo[value]));
}
