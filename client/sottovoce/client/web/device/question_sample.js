import { BudgetExhausted } from "../survey/errors.js";
import { dumpCanonical, sha256 } from "../survey/canonical.js";

/**
 * Indices of what a respondent of this arm is asked: by sets kept earlier, else drawn now and kept. They are kept by
 * the names of the private questions, so that links of two revisions give no choice between two sets.
 *
 * @throws {BudgetExhausted} the ledger cannot be written or read
 */
export async function keepAsked(respondent, arm = "") {
  const { survey } = respondent;
  const unasked = [];
  for (const sample of survey.samplesInArm(arm)) unasked.push(...(await keepUnasked(respondent, sample)));
  return survey.placesInArm(arm).filter((index) => !unasked.includes(index));
}

async function keepUnasked({ draws, key, ledger, survey: { questions } }, { size, units }) {
  // A block is one of what is drawn from, known by the names of all its questions.
  const named = new Map(units.map((unit) => [unit.map((index) => questions[index].name).join(" "), unit]));
  const names = [...named.keys()].sort();
  const pool = await sha256(dumpCanonical({ ask: size, questions: names }));
  const places = [...names.keys()];
  const kept = await ledger.prepare(key, pool, () => {
    const unasked = drawUnasked({ size, units }, draws);
    return places.filter((place) => !unasked.includes(named.get(names[place])));
  });
  // Accept only sets that this survey could have drawn: a set written by others could single a person out.
  const inOrder = places.filter((place) => kept?.includes?.(place));
  if (kept?.length !== size || inOrder.length !== size) throw new BudgetExhausted("error_ledger");
  return places.filter((place) => !inOrder.includes(place)).flatMap((place) => named.get(names[place]));
}

/**
 * Indices of what a report of an arm has values of, in the survey's order: with `ask: m`, all public questions and m of
 * the private ones, every set of m equally likely. Drawn once, before any question is shown; see the Python twin.
 *
 * Bytes: those of below(q), below(q - 1), ..., m of them, for q private questions, a block as one; none if all
 * are asked.
 */
export function drawAsked(survey, draws, arm = "") {
  const unasked = (survey.samplesInArm?.(arm) ?? []).flatMap((sample) => drawUnasked(sample, draws).flat());
  const places = survey.placesInArm?.(arm) ?? [...survey.questions.keys()];
  return places.filter((index) => !unasked.includes(index));
}

function drawUnasked({ size, units }, draws) {
  const places = [...units];
  // The first m places of a Fisher-Yates shuffle.
  for (let place = 0; place < size; place++) {
    const other = place + draws.below(places.length - place);
    [places[place], places[other]] = [places[other], places[place]];
  }
  return places.slice(size);
}
