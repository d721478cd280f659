import { bitOf, maskOf } from "../survey/answers.js";

/**
 * A mask with a bit for each option, from option 0 on, each with the weights of its own truth.
 *
 * Epsilon: `mechanism.epsilon`, which for `bitwise_rr` counts on at most max_choices options chosen.
 * Bytes: those of k picks, whatever the truth.
 */
export function drawBits(mechanism, truth, draws) {
  const bits = mechanism.selectedBits(truth);
  const options = [...Array(mechanism.options).keys()];
  return maskOf(options.filter((option) => draws.pick(mechanism.weights(bitOf(bits, option)))));
}

/**
 * `2 * option + bit` for one of the options, when the mask of the chosen ones is `truth`.
 *
 * Epsilon: `mechanism.epsilon`. Bytes: those of below(k) and of the bit's pick, whatever the truth.
 */
export function randomizeSampledOption(mechanism, truth, draws) {
  const option = draws.below(mechanism.options);
  return 2 * option + draws.pick(mechanism.weights(bitOf(truth, option)));
}

/**
 * A mask of `size` options, likelier to hold option `truth`.
 *
 * Epsilon: `mechanism.epsilon`. Bytes: those of one pick for the truth, then of below(k - 1), below(k - 2), ...,
 * `size` of them, whatever the truth and whether or not it is in the set.
 */
export function randomizeSubsetSelection({ inclusion, options, size }, truth, draws) {
  const included = draws.pick(inclusion);
  const others = [...Array(options).keys()].filter((option) => option !== truth);
  // The first `size` places of a Fisher-Yates shuffle; the last is not used when the truth takes its place.
  for (let place = 0; place < size; place += 1) {
    const other = place + draws.below(others.length - place);
    [others[place], others[other]] = [others[other], others[place]];
  }
  return maskOf(included ? [truth, ...others.slice(0, size - 1)] : others.slice(0, size));
}

/**
 * A column in 0 .. K - 1, likelier one of option `truth`.
 *
 * Epsilon: `mechanism.epsilon`. Bytes: those of one pick and of below(K / 2), whatever the truth.
 */
export function randomizeHadamardResponse(mechanism, truth, draws) {
  const own = draws.pick(mechanism.inclusion);
  return mechanism.column(truth, own, draws.below(mechanism.columns / 2));
}

/**
 * 0 or 1, for the least or the largest truth, when the truth is step `truth`.
 *
 * Epsilon: `mechanism.epsilon`. Bytes: those of below(steps), also where nothing is to be rounded, and of the bit's
 * pick, whatever the truth.
 */
export function randomizeRoundingRR(mechanism, truth, draws) {
  return draws.pick(mechanism.weights(draws.pick(mechanism.ends(truth))));
}

/**
 * `2 * coordinate + end` for one of the coordinates, when their true steps are `truth`.
 *
 * Epsilon: `mechanism.epsilon`. Bytes: those of below(d) and of `rounding_rr`, whatever the truth.
 */
export function randomizeSampledCoordinate(mechanism, truth, draws) {
  const coordinate = draws.below(mechanism.coordinates);
  return 2 * coordinate + randomizeRoundingRR(mechanism, truth[coordinate], draws);
}

const SIGNS = [0, 1, -1];

/**
 * A step in 0 .. steps, when the truth is step `truth`.
 *
 * Epsilon: `mechanism.epsilon`. Bytes: those of one pick for the direction and of steps - 1 for the magnitude,
 * whatever the truth and whatever the noise.
 */
export function randomizeGeometric({ direction, onward, steps }, truth, draws) {
  const sign = SIGNS[draws.pick(direction)];
  let [magnitude, going] = [1, 1];
  for (let trial = 1; trial < steps; trial += 1) {
    going *= draws.pick(onward);
    magnitude += going;
  }
  return Math.min(Math.max(truth + sign * magnitude, 0), steps);
}

/**
 * The index of an output, when the truth is step `truth`.
 *
 * Epsilon: `mechanism.epsilon`. Bytes: those of below(steps), also where the truth is a level, and of one pick from a
 * row, whatever the truth.
 */
export function randomizeLevelTable(mechanism, truth, draws) {
  const [below, ends] = mechanism.neighbours(truth);
  return draws.pick(mechanism.rows[below + draws.pick(ends)]);
}

/**
 * An output in 0 .. bins + 2 width - 1, when the truth is step `truth`.
 *
 * Epsilon: `mechanism.epsilon`. Bytes: those of below(sum of a row), whatever the truth.
 */
export function randomizeSquareWave(mechanism, truth, draws) {
  return draws.pick(mechanism.weights(truth));
}

/** The randomizers of the mechanisms that few surveys name, by the mechanism. */
export const RARE_RANDOMIZERS = {
  subset_selection: randomizeSubsetSelection,
  hadamard_response: randomizeHadamardResponse,
  optimal_unary: drawBits,
  sampled_option: randomizeSampledOption,
  bitwise_rr: drawBits,
  rounding_rr: randomizeRoundingRR,
  level_table: randomizeLevelTable,
  square_wave: randomizeSquareWave,
  geometric: randomizeGeometric,
  sampled_coordinate: randomizeSampledCoordinate,
};
