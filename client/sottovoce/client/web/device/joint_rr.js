/**
 * The reports of all questions of a block for the first of them, none for the others; `truths` begin with theirs.
 *
 * Epsilon: `block.epsilon`, for all of them together and for each. Bytes: those of one pick of how many answers differ,
 * then for each question those of a pick of whether it does and of below(k - 1); none depends on the truth.
 */
export function randomizeJointRR({ block, position }, _truth, draws, _memo, truths) {
  if (position > 0) return [];
  let left = draws.pick(block.counts.map((count, distance) => count * block.weights[distance]));
  return block.sizes.map((size, place) => {
    const after = block.after[place];
    // Combinations of the questions after this one that differ in what is left: if this one is true, or if not.
    const differs = draws.pick([after[left] ?? 0, (size - 1) * (after[left - 1] ?? 0)]);
    const moved = 1 + draws.below(size - 1);
    left -= differs;
    return (truths[place] + differs * moved) % size;
  });
}
