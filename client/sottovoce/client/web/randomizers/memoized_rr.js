/** The permanent answers for a truth of no and of yes: both, so that what is kept tells nothing of the truth. */
export function memorize(mechanism, draws) {
  return [0, 1].map((truth) => draws.pick(mechanism.permanent.weights(truth)));
}

/** One wave's report: the permanent answer for `value` through the instantaneous layer. */
export function recall(mechanism, memo, value, draws) {
  return draws.pick(mechanism.instantaneous.weights(memo[value]));
}

/**
 * 0 or 1, the report of somebody's only wave.
 *
 * Epsilon: `mechanism.epsilon` covers all waves under one memo. Bytes: two picks of the permanent layer and one of the
 * instantaneous, whatever the truth.
 */
export function randomizeMemoizedRR(mechanism, value, draws) {
  return recall(mechanism, memorize(mechanism, draws), value, draws);
}
