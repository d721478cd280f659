import { DateType } from "../survey/types/date.js";
import { DecimalType } from "../survey/types/decimal.js";
import { IntegerType } from "../survey/types/integer.js";
import { SelectMultipleType } from "../survey/types/select_multiple.js";
import { VectorType } from "../survey/types/vector.js";
import { BitwiseRR } from "../survey/mechanisms/bitwise_rr.js";
import { Geometric } from "../survey/mechanisms/geometric.js";
import { HadamardResponse } from "../survey/mechanisms/hadamard_response.js";
import { LevelTable } from "../survey/mechanisms/level_table.js";
import { MORE_VALUE_WORDS, answerInMoreWords } from "../form/more_value_words.js";
import { OptimalUnary } from "../survey/mechanisms/optimal_unary.js";
import { RoundingRR } from "../survey/mechanisms/rounding_rr.js";
import { SampledCoordinate } from "../survey/mechanisms/sampled_coordinate.js";
import { SampledOption } from "../survey/mechanisms/sampled_option.js";
import { SquareWave } from "../survey/mechanisms/square_wave.js";
import { SubsetSelection } from "../survey/mechanisms/subset_selection.js";
import { acknowledgePart, afterPart, notePart } from "../form/notes.js";
import { byHand } from "../form/own_coin_steps.js";
import { numberInput } from "../form/number_input.js";
import { procedure } from "../survey/own_coin.js";
import { randomizeBitwiseRR } from "../device/randomizers/bitwise_rr.js";
import { randomizeGeometric } from "../device/randomizers/geometric.js";
import { randomizeHadamardResponse } from "../device/randomizers/hadamard_response.js";
import { randomizeLevelTable } from "../device/randomizers/level_table.js";
import { randomizeOptimalUnary } from "../device/randomizers/optimal_unary.js";
import { randomizeRoundingRR } from "../device/randomizers/rounding_rr.js";
import { randomizeSampledCoordinate } from "../device/randomizers/sampled_coordinate.js";
import { randomizeSampledOption } from "../device/randomizers/sampled_option.js";
import { randomizeSquareWave } from "../device/randomizers/square_wave.js";
import { randomizeSubsetSelection } from "../device/randomizers/subset_selection.js";
import { readAbsent, readAfter, readConditions, readMatrix, readNote } from "../survey/more_items.js";

/**
 * What few surveys need: the rarer mechanisms, each with its randomizer; items that are not one of some options, that
 * need not be answered or are not always shown; coins that people toss themselves.
 */
export const MORE_TYPES = {
  mechanisms: {
    subset_selection: SubsetSelection,
    hadamard_response: HadamardResponse,
    optimal_unary: OptimalUnary,
    sampled_option: SampledOption,
    bitwise_rr: BitwiseRR,
    rounding_rr: RoundingRR,
    level_table: LevelTable,
    square_wave: SquareWave,
    geometric: Geometric,
    sampled_coordinate: SampledCoordinate,
  },
  randomizers: {
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
  },
  types: {
    select_multiple: SelectMultipleType,
    integer: IntegerType,
    decimal: DecimalType,
    date: DateType,
    vector: VectorType,
  },
  itemTypes: { note: readNote, acknowledge: readNote, matrix: readMatrix },
  inputs: { number: numberInput, numbers: numberInput },
  itemViews: { note: notePart, acknowledge: acknowledgePart },
  valueWords: MORE_VALUE_WORDS,
  provided: { afterPart, answerInMoreWords, byHand, procedure, readAbsent, readAfter, readConditions },
};
