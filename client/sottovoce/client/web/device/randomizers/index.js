import { randomizeBinaryRR } from "./binary_rr.js";
import { randomizeKaryRR } from "./kary_rr.js";

/** The randomizers, (mechanism, value, draws) -> reported value, by mechanism; the same ones as in `MECHANISMS`. */
export const RANDOMIZERS = new Map([
  ["binary_rr", randomizeBinaryRR],
  ["kary_rr", randomizeKaryRR],
]);
