import { BitwiseRR } from "./mechanisms/bitwise_rr.js";
import { Geometric } from "./mechanisms/geometric.js";
import { HadamardResponse } from "./mechanisms/hadamard_response.js";
import { LevelTable } from "./mechanisms/level_table.js";
import { OptimalUnary } from "./mechanisms/optimal_unary.js";
import { RoundingRR } from "./mechanisms/rounding_rr.js";
import { SampledCoordinate } from "./mechanisms/sampled_coordinate.js";
import { SampledOption } from "./mechanisms/sampled_option.js";
import { SquareWave } from "./mechanisms/square_wave.js";
import { SubsetSelection } from "./mechanisms/subset_selection.js";
import { DateType } from "./types/date.js";
import { DecimalType } from "./types/decimal.js";
import { IntegerType } from "./types/integer.js";
import { SelectMultipleType } from "./types/select_multiple.js";
import { VectorType } from "./types/vector.js";

/** The mechanisms that few surveys name. */
export const RARE_MECHANISMS = [
  SubsetSelection, HadamardResponse, OptimalUnary, SampledOption, BitwiseRR,
  RoundingRR, LevelTable, SquareWave, Geometric, SampledCoordinate,
];

/** The question types that few surveys have. */
export const RARE_TYPES = [SelectMultipleType, IntegerType, DecimalType, DateType, VectorType];
