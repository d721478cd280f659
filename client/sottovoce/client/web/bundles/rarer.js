import { byHand } from "../form/own_coin_steps.js";
import { BitwiseRR } from "../survey/mechanisms/bitwise_rr.js";
import { Geometric } from "../survey/mechanisms/geometric.js";
import { HadamardResponse } from "../survey/mechanisms/hadamard_response.js";
import { LevelTable } from "../survey/mechanisms/level_table.js";
import { RoundingRR } from "../survey/mechanisms/rounding_rr.js";
import { SampledCoordinate } from "../survey/mechanisms/sampled_coordinate.js";
import { SampledOption } from "../survey/mechanisms/sampled_option.js";
import { SquareWave } from "../survey/mechanisms/square_wave.js";
import { SubsetSelection } from "../survey/mechanisms/subset_selection.js";
import { acknowledgePart, notePart } from "../form/notes.js";
import { numberControl } from "../form/number_input.js";
import { procedure } from "../survey/own_coin.js";
import { randomizeBitwiseRR } from "../device/randomizers/bitwise_rr.js";
import { randomizeGeometric } from "../device/randomizers/geometric.js";
import { randomizeHadamardResponse } from "../device/randomizers/hadamard_response.js";
import { randomizeLevelTable } from "../device/randomizers/level_table.js";
import { randomizeRoundingRR } from "../device/randomizers/rounding_rr.js";
import { randomizeSampledCoordinate } from "../device/randomizers/sampled_coordinate.js";
import { randomizeSampledOption } from "../device/randomizers/sampled_option.js";
import { randomizeSquareWave } from "../device/randomizers/square_wave.js";
import { randomizeSubsetSelection } from "../device/randomizers/subset_selection.js";
import { readAbsent, readConditions, readGrid, readOther } from "../survey/more_items.js";
import { TELLING, answeredRarely } from "../form/value_words_more.js";

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
