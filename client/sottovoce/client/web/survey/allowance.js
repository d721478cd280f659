/** The epsilon that a person allows, unless she says otherwise: for one question, and for one whole report. */
export const DEFAULT_ALLOWANCE = Object.freeze({ question: 3, total: 8 });

/** From this total on, a belief of 10 % may become 90 %: ln 81 = 4.394..., rounded down. */
export const NEARLY_SURE = 4.39;
