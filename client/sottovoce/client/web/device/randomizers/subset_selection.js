import { maskOf } from "../../survey/answers.js";

/**
 * A mask of `size` options, likelier to hold option `value`.
 *
 * Epsilon: `mechanism.epsilon`. Bytes: those of one pick for the truth, then of below(k - 1), below(k - 2), ...,
 * `size` of them, whatever the truth and whether or not it is in the set.
 */
export function randomizeSubsetSelection({ inclusion, options, size }, value, draws) {
  const included = draws.pick(inclusion);
  const others = [...Array(options).keys()].filter((option) => option !== value);
  // The first `size` places of a Fisher-Yates shuffle; the last is not used when the truth takes its place.
  for (let place = 0; place < size; place += 1) {
    const other = place + draws.below(others.length - place);
    [others[place], others[other]] = [others[other], others[place]];
  }
  return maskOf(included ? [value, ...others.slice(0, size - 1)] : others.slice(0, size));
}
