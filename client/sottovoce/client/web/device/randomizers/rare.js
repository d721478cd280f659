import { randomizeBitwiseRR } from "./bitwise_rr.js";
import { randomizeGeometric } from "./geometric.js";
import { randomizeHadamardResponse } from "./hadamard_response.js";
import { randomizeLevelTable } from "./level_table.js";
import { randomizeOptimalUnary } from "./optimal_unary.js";
import { randomizeRoundingRR } from "./rounding_rr.js";
import { randomizeSampledCoordinate } from "./sampled_coordinate.js";
import { randomizeSampledOption } from "./sampled_option.js";
import { randomizeSquareWave } from "./square_wave.js";
import { randomizeSubsetSelection } from "./subset_selection.js";

/** The randomizers of the mechanisms that few surveys name, by the mechanism. */
export const RARE_RANDOMIZERS = {
  subset_selection: randomizeSubsetSelection,
  hadamard_response: randomizeHadamardResponse,
  optimal_unary: randomizeOptimalUnary,
  sampled_option: randomizeSampledOption,
  bitwise_rr: randomizeBitwiseRR,
  rounding_rr: randomizeRoundingRR,
  level_table: randomizeLevelTable,
  square_wave: randomizeSquareWave,
  geometric: randomizeGeometric,
  sampled_coordinate: randomizeSampledCoordinate,
};
