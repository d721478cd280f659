const SIGNS = [0, 1, -1];

/**
 * A step in 0 .. steps, when the truth is step `value`.
 *
 * Epsilon: `mechanism.epsilon`. Bytes: those of one pick for the direction and of steps - 1 for the magnitude,
 * whatever the truth and whatever the noise.
 */
export function randomizeGeometric({ direction, onward, steps }, value, draws) {
  const sign = SIGNS[draws.pick(direction)];
  let [magnitude, going] = [1, 1];
  for (let trial = 1; trial < steps; trial += 1) {
    going *= draws.pick(onward);
    magnitude += going;
  }
  return Math.min(Math.max(value + sign * magnitude, 0), steps);
}
