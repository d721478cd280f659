import { BitwiseRR } from "./bitwise_rr.js";
import { Geometric } from "./geometric.js";
import { HadamardResponse } from "./hadamard_response.js";
import { LevelTable } from "./level_table.js";
import { RoundingRR } from "./rounding_rr.js";
import { SampledCoordinate } from "./sampled_coordinate.js";
import { SampledOption } from "./sampled_option.js";
import { SquareWave } from "./square_wave.js";
import { SubsetSelection } from "./subset_selection.js";

/** The mechanisms that come with the page's second file. */
export const RARER = [
  SubsetSelection,
  HadamardResponse,
  SampledOption,
  BitwiseRR,
  RoundingRR,
  LevelTable,
  SquareWave,
  Geometric,
  SampledCoordinate,
];
