/**
 * The reports of all questions of a block for the first of them, none for the others; `truths` begin with theirs.
 *
 * Epsilon: `block.epsilon`, for all of them together and for each. Bytes: those of one pick from weights that sum to
 * `total`, whatever the truth and the report.
 */
export function randomizeJointRR({ block, position }, _truth, draws, _memo, truths) {
  if (position > 0) return [];
  let place = draws.pick(block.offsetWeights);
  const reported = [];
  for (let index = block.sizes.length - 1; index >= 0; index -= 1) {
    const size = block.sizes[index];
    reported.unshift((truths[index] + place) % size);
    place = Math.floor(place / size);
  }
  return reported;
}
