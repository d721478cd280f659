/** The epsilon that a person allows, unless she says otherwise: for one question, and for one whole report. */
export const DEFAULT_ALLOWANCE = Object.freeze({ question: 3, total: 8 });
