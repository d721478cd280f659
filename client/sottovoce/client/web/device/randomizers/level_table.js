/**
 * The index of an output, when the truth is step `value`.
 *
 * Epsilon: `mechanism.epsilon`. Bytes: those of below(steps), also where the truth is a level, and of one pick from a
 * row, whatever the truth.
 */
export function randomizeLevelTable(mechanism, value, draws) {
  const [below, ends] = mechanism.neighbours(value);
  return draws.pick(mechanism.rows[below + draws.pick(ends)]);
}
