import { BinaryRR, KaryRR } from "./mechanisms/common.js";
import { BooleanType, RatingType, SelectOneType } from "./types/common.js";

/** The mechanisms, by the name that the canonical survey carries; the rarer ones once a survey has named one. */
export const MECHANISMS = new Map([BinaryRR, KaryRR].map((mechanism) => [mechanism.mechanismName, mechanism]));

/** The question types, by the name that the canonical survey carries; the rarer ones once a survey has named one. */
export const TYPES = new Map([BooleanType, SelectOneType, RatingType].map((type) => [type.typeName, type]));

/** What reads the items and rules that few surveys have, once a survey has one. */
export const RARE_READERS = {};

/** Sentences that few surveys need, by language and key, once their part has come. */
export const RARE_SENTENCES = new Set();

/** Whether reports wait on the device, as the document's `privacy` has it, which may be anything. */
export function isDelayed(privacy) {
  return Object.keys(privacy ?? {}).some((key) => key.startsWith("send_"));
}
