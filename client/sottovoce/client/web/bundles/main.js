import { BinaryRR } from "../survey/mechanisms/binary_rr.js";
import { KaryRR } from "../survey/mechanisms/kary_rr.js";
import { BooleanType } from "../survey/types/boolean.js";
import { RatingType } from "../survey/types/rating.js";
import { SelectOneType } from "../survey/types/select_one.js";
import { start } from "../form/start.js";

/** What stands between a link and the first step. */
export const MAIN = {
  mechanisms: { binary_rr: BinaryRR, kary_rr: KaryRR },
  types: { boolean: BooleanType, select_one: SelectOneType, rating: RatingType },
  provided: { start },
};
