import { bitOf } from "./answers.js";

/**
 * Whether all of `allOf` hold and, where there are any, one of `anyOf`; evaluated here and nowhere else. None holds for
 * an answer that is absent.
 *
 * A condition is `{ question, options, span, mask }`: the name of an earlier question, and the options of which one
 * must be chosen, or the first and last step of a range; `mask` if several may be chosen. `given` is a Map from names
 * of questions to the true values of the answers that were really given.
 */
export function isShown(allOf, anyOf, given) {
  const holds = (one) => given.has(one.question) && holdsFor(one, given.get(one.question));
  return allOf.every(holds) && (anyOf.length === 0 || anyOf.some(holds));
}

function holdsFor({ mask, options, span }, value) {
  if (span !== null) return span[0] <= value && value <= span[1];
  return options.some((option) => (mask ? bitOf(value, option) : value === option));
}
