import { BudgetExhausted } from "../survey/errors.js";
import { dumpCanonical, sha256 } from "../survey/canonical.js";
import { unitsOf } from "../survey/waves.js";

/**
 * The set that stands for `key`: one kept earlier, else one drawn now and kept. It is kept by the names of the private
 * questions, so that links of two revisions give no choice between two sets.
 *
 * @throws {BudgetExhausted} the ledger cannot be written or read
 */
export async function keepAsked(ledger, key, survey, draws) {
  const { ask, questions } = survey;
  // A block is one of what is drawn from, known by the names of all its questions.
  const named = new Map(unitsOf(survey).map((unit) => [unit.map((index) => questions[index].name).join(" "), unit]));
  const names = [...named.keys()].sort();
  const pool = await sha256(dumpCanonical({ ask, questions: names }));
  const places = [...names.keys()];
  const sample = await ledger.prepare(key, pool, () => {
    const drawn = drawAsked(survey, draws);
    return places.filter((place) => drawn.includes(named.get(names[place])[0]));
  });
  // Accept only sets that this survey could have drawn: a set written by others could single a person out.
  const inOrder = places.filter((place) => sample?.includes?.(place));
  if (sample?.length !== ask || inOrder.length !== ask) throw new BudgetExhausted("error_ledger");
  const asked = inOrder.flatMap((place) => named.get(names[place]));
  return [...questions.keys()].filter((index) => questions[index].mechanism === null || asked.includes(index));
}

/**
 * Indices of the questions to ask, in the survey's order: with `ask: m`, all public ones and m of the private ones,
 * every set of m equally likely. Drawn once, before any question is shown; see the Python twin.
 *
 * Bytes: those of below(q), below(q - 1), ..., m of them, for q private questions, a block as one; none if all
 * are asked.
 */
export function drawAsked(survey, draws) {
  const places = unitsOf(survey);
  const asked = survey.ask ?? places.length;
  if (asked < places.length) {
    // The first m places of a Fisher-Yates shuffle.
    for (let place = 0; place < asked; place++) {
      const other = place + draws.below(places.length - place);
      [places[place], places[other]] = [places[other], places[place]];
    }
  }
  const unasked = places.slice(asked).flat();
  return [...survey.questions.keys()].filter((index) => !unasked.includes(index));
}
