import { randomizeBinaryRR } from "./binary_rr.js";
import { randomizeKaryRR } from "./kary_rr.js";

/** The closed list of randomizers, one per mechanism: (mechanism, value, draws) -> reported value. */
export const RANDOMIZERS = new Map([
  ["binary_rr", randomizeBinaryRR],
  ["kary_rr", randomizeKaryRR],
]);
