const BEFORE = 10;
// Epsilon is a rounded logarithm: of ln 3 the share is 25, and not the 26 that its last digit would make of it.
const ROUNDING = 1e-9;

/**
 * Highest belief in percent after a loss of epsilon, for an observer whose belief was 10 % before; rounded up. See
 * `belief_after` in the Python package for the maths.
 */
export function beliefAfter(epsilon) {
  const odds = (BEFORE / (100 - BEFORE)) * Math.exp(epsilon);
  return Math.ceil((100 * odds) / (1 + odds) - ROUNDING);
}
