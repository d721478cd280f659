import { BinaryRR } from "./binary_rr.js";
import { BitwiseRR } from "./bitwise_rr.js";
import { Geometric } from "./geometric.js";
import { HadamardResponse } from "./hadamard_response.js";
import { KaryRR } from "./kary_rr.js";
import { LevelTable } from "./level_table.js";
import { RoundingRR } from "./rounding_rr.js";
import { SampledCoordinate } from "./sampled_coordinate.js";
import { SampledOption } from "./sampled_option.js";
import { SquareWave } from "./square_wave.js";
import { SubsetSelection } from "./subset_selection.js";

const ALL = [
  BinaryRR,
  KaryRR,
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

/** The closed list of mechanisms, by the name that the canonical survey carries. */
export const MECHANISMS = new Map(ALL.map((mechanism) => [mechanism.mechanismName, mechanism]));
