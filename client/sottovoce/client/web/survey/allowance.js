/** The epsilon that a person allows, unless she says otherwise: for one question, and for one whole report. */
export const DEFAULT_ALLOWANCE = Object.freeze({ question: 3, total: 8 });

/** From this total on, whoever thought a thing 10 % likely may come to think it 90 % likely. */
export const NEARLY_SURE = 4.39;
