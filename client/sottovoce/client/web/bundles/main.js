import { BinaryRR } from "../survey/mechanisms/binary_rr.js";
import { KaryRR } from "../survey/mechanisms/kary_rr.js";
import { readQuestion } from "../survey/parse_item.js";
import { start } from "../form/start.js";

/** What stands between a link and the first step. */
export const MAIN = {
  mechanisms: { binary_rr: BinaryRR, kary_rr: KaryRR },
  itemTypes: { boolean: readQuestion, select_one: readQuestion, rating: readQuestion },
  provided: { start },
};
