import { BudgetExhausted } from "../survey/errors.js";
import { dumpCanonical, sha256 } from "../survey/canonical.js";
import { arrange, inOrder, orderedLists } from "../survey/order/order.js";

/**
 * An order of 0 .. m - 1 for the m that may move: `random` all equally likely, `reversed_half` two. Bytes: those of
 * below(m), below(m - 1), ..., below(2); for `reversed_half` those of below(2).
 */
export function drawOrder({ kind, movable }, draws) {
  const places = [...movable.keys()];
  if (kind !== "random") return draws.below(2) ? places.reverse() : places;
  for (let place = 0; place < places.length - 1; place++) {
    const other = place + draws.below(places.length - place);
    [places[place], places[other]] = [places[other], places[place]];
  }
  return places;
}

/**
 * The order that stands for this respondent: one kept earlier, else one drawn now and kept; see the Python twin.
 *
 * @throws {BudgetExhausted} the ledger cannot be written or read
 */
export async function keepOrder({ draws, key, ledger, survey }) {
  const lists = orderedLists(survey);
  const orders = lists.map(({ kind, last, names }) => [kind, ...names, "", ...last]);
  const pool = await sha256(dumpCanonical({ orders }));
  const kept = await ledger.prepare(key, pool, () => lists.flatMap((list) => drawOrder(list, draws)));
  let start = 0;
  const places = Array.isArray(kept) ? kept : [];
  const drawn = lists.map(({ movable }) => places.slice(start, (start += movable.length)));
  const isWhole = places.length === start && lists.every((list, index) => isPossible(list, drawn[index]));
  if (!isWhole) throw new BudgetExhausted("error_ledger");
  return arrange(survey, lists, drawn);
}

/** What a respondent sees, in the order that stands for them; `seen` is the survey, or what is seen in one arm. */
export async function inDrawnOrder(respondent, seen) {
  return inOrder(respondent.survey, seen, await keepOrder(respondent));
}

function isPossible({ kind, movable }, places) {
  const forwards = [...movable.keys()];
  if (kind === "random") return String([...places].sort((one, other) => one - other)) === String(forwards);
  return [String(forwards), String(forwards.reverse())].includes(String(places));
}
