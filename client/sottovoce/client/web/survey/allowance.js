

/** The epsilon that a person allows, unless she says otherwise: for one question, and for one whole report. */
export const DEFAULT_ALLOWANCE = Object.freeze({ question: 3, total: 8 });

/** From this total on, a belief of 10 % may become 90 %: ln 81 = 4.394..., rounded down. */
export const NEARLY_SURE = 4.39;

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
