import { BitwiseRR, HadamardResponse, OptimalUnary, SampledOption, SubsetSelection } from "./mechanisms/options.js";
import { Geometric, LevelTable, RoundingRR, SampledCoordinate, SquareWave } from "./mechanisms/numbers.js";
import { DateType, DecimalType, IntegerType, SelectMultipleType, VectorType } from "./types/rare.js";

/** The mechanisms that few surveys name. */
export const RARE_MECHANISMS = [
  SubsetSelection, HadamardResponse, OptimalUnary, SampledOption, BitwiseRR,
  RoundingRR, LevelTable, SquareWave, Geometric, SampledCoordinate,
];

/** The question types that few surveys have. */
export const RARE_TYPES = [SelectMultipleType, IntegerType, DecimalType, DateType, VectorType];
