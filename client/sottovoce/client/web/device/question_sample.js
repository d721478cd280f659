import { BudgetExhausted } from "../survey/errors.js";

/**
 * The set that stands for `key`: one kept earlier, else one drawn now and kept.
 *
 * @throws {BudgetExhausted} the ledger cannot be written or read
 */
export async function keepAsked(ledger, key, survey, draws) {
  const kept = await ledger.prepare(key, survey.digest, drawAsked(survey, draws));
  const fits = survey.asksFor(survey.questions.map((_, index) => (kept.includes(index) ? index : null)));
  if (!fits) throw new BudgetExhausted("error_ledger");
  return kept;
}

/**
 * Indices of the questions to ask, in the survey's order: with `ask: m`, all public ones and m of the private ones,
 * every set of m equally likely. Drawn once, before any question is shown; see the Python twin.
 *
 * Bytes: those of below(q), below(q - 1), ..., m of them, for q private questions; none if all are asked.
 */
export function drawAsked(survey, draws) {
  const places = [...survey.private];
  const asked = survey.ask ?? places.length;
  if (asked < places.length) {
    // The first m places of a Fisher-Yates shuffle.
    for (let place = 0; place < asked; place++) {
      const other = place + draws.below(places.length - place);
      [places[place], places[other]] = [places[other], places[place]];
    }
  }
  const unasked = places.slice(asked);
  return [...survey.questions.keys()].filter((index) => !unasked.includes(index));
}
