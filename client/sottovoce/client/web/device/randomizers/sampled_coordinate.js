import { randomizeRoundingRR } from "./rounding_rr.js";

/**
 * `2 * coordinate + end` for one of the coordinates, when their true steps are `value`.
 *
 * Epsilon: `mechanism.epsilon`. Bytes: those of below(d) and of `rounding_rr`, whatever the truth.
 */
export function randomizeSampledCoordinate(mechanism, value, draws) {
  const coordinate = draws.below(mechanism.coordinates);
  return 2 * coordinate + randomizeRoundingRR(mechanism, value[coordinate], draws);
}
