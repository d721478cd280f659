import { BinaryRR } from "./binary_rr.js";
import { KaryRR } from "./kary_rr.js";

/** The closed list of mechanisms, by the name that the canonical survey carries. */
export const MECHANISMS = new Map([BinaryRR, KaryRR].map((mechanism) => [mechanism.mechanismName, mechanism]));
