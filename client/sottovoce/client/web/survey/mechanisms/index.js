import { BinaryRR } from "./binary_rr.js";
import { KaryRR } from "./kary_rr.js";

/**
 * The mechanisms by the name that the canonical survey carries: the two most common ones, until `loading.js` adds the
 * rarer ones of the closed list, which ends in `rarer.js`.
 */
export const MECHANISMS = new Map([BinaryRR, KaryRR].map((mechanism) => [mechanism.mechanismName, mechanism]));
