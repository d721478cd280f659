/**
 * The reports of all questions of a block for the first of them, none for the others; `truths` begin with theirs, null
 * for those that are not asked.
 *
 * Epsilon: `block.epsilon`, for all of them together and for each. Bytes: those of one pick from weights that sum to
 * `total`, whatever the truth and the report.
 */
export function randomizeJointRR({ block, position }, _truth, draws, _memo, truths) {
  if (position > 0) return [];
  const reported = truths.slice(0, block.sizes.length);
  const asked = [...reported.keys()].filter((index) => reported[index] !== null);
  if (asked.length === 0) return reported;
  let place = draws.pick(block.offsetWeights);
  for (const index of asked.reverse()) {
    const size = block.sizes[index];
    reported[index] = (reported[index] + place) % size;
    place = Math.floor(place / size);
  }
  return reported;
}
