import { byHand } from "./by_hand.js";
import { BitwiseRR } from "./mechanisms/bitwise_rr.js";
import { Geometric } from "./mechanisms/geometric.js";
import { HadamardResponse } from "./mechanisms/hadamard_response.js";
import { LevelTable } from "./mechanisms/level_table.js";
import { RoundingRR } from "./mechanisms/rounding_rr.js";
import { SampledCoordinate } from "./mechanisms/sampled_coordinate.js";
import { SampledOption } from "./mechanisms/sampled_option.js";
import { SquareWave } from "./mechanisms/square_wave.js";
import { SubsetSelection } from "./mechanisms/subset_selection.js";
import { acknowledgePart, notePart } from "./notes.js";
import { numberControl } from "./numbers.js";
import { procedure } from "./own_coin.js";
import { randomizeBitwiseRR } from "./randomizers/bitwise_rr.js";
import { randomizeGeometric } from "./randomizers/geometric.js";
import { randomizeHadamardResponse } from "./randomizers/hadamard_response.js";
import { randomizeLevelTable } from "./randomizers/level_table.js";
import { randomizeRoundingRR } from "./randomizers/rounding_rr.js";
import { randomizeSampledCoordinate } from "./randomizers/sampled_coordinate.js";
import { randomizeSampledOption } from "./randomizers/sampled_option.js";
import { randomizeSquareWave } from "./randomizers/square_wave.js";
import { randomizeSubsetSelection } from "./randomizers/subset_selection.js";
import { readAbsent, readConditions, readGrid, readOther } from "./rarer_items.js";
import { TELLING, answeredRarely } from "./rarer_telling.js";

const mechanisms = [
  [SubsetSelection, randomizeSubsetSelection],
  [HadamardResponse, randomizeHadamardResponse],
  [SampledOption, randomizeSampledOption],
  [BitwiseRR, randomizeBitwiseRR],
  [RoundingRR, randomizeRoundingRR],
  [LevelTable, randomizeLevelTable],
  [SquareWave, randomizeSquareWave],
  [Geometric, randomizeGeometric],
  [SampledCoordinate, randomizeSampledCoordinate],
];

const reading = { procedure, readAbsent, readConditions, readGrid, readOther };
const showing = { TELLING, acknowledgePart, answeredRarely, byHand, notePart, numberControl };

/**
 * What few surveys need: the rarer mechanisms, each with its randomizer; items that are not one of some options, that
 * need not be answered or are not always shown; coins that people toss themselves.
 */
export const RARER = { mechanisms, ...reading, ...showing };
