import { MECHANISMS, RARE_READERS, TYPES } from "./known.js";
import { Geometric, LevelTable, RoundingRR, SampledCoordinate, SquareWave } from "./mechanisms/numbers.js";
import { BitwiseRR, HadamardResponse, OptimalUnary, SampledOption, SubsetSelection } from "./mechanisms/options.js";
import { must } from "./rational.js";
import { DateType, DecimalType, IntegerType, SelectMultipleType, VectorType } from "./types/rare.js";

/** The mechanisms that few surveys name. */
export const RARE_MECHANISMS = [
  SubsetSelection,
  HadamardResponse,
  OptimalUnary,
  SampledOption,
  BitwiseRR,
  RoundingRR,
  LevelTable,
  SquareWave,
  Geometric,
  SampledCoordinate,
];

/** The question types that few surveys have. */
export const RARE_TYPES = [
  SelectMultipleType,
  IntegerType,
  DecimalType,
  DateType,
  VectorType,
];

/** Have the mechanisms and types that few surveys name, and what reads an answer that stands for none. */
export function bringRareKinds() {
  for (const mechanism of RARE_MECHANISMS) MECHANISMS.set(mechanism.mechanismName, mechanism);
  for (const type of RARE_TYPES) TYPES.set(type.typeName, type);
  RARE_READERS.readAbsent = readAbsent;
}

/** The true value that stands for no answer. */
function readAbsent(kind, fields, domain) {
  must(!domain.absent);
  const value = kind.encode(domain, fields.when_absent);
  kind.checkAbsent(domain, fields.when_absent);
  return value;
}
