import { MemoizedRR } from "../survey/mechanisms/memoized_rr.js";
import { checkMemo, keepMemo } from "../device/memo.js";
import { keepAsked } from "../device/question_sample.js";
import { randomizeMemoizedRR } from "../device/randomizers/memoized_rr.js";
import { readWaves } from "../survey/waves.js";
import { wavesNotes } from "../form/waves_notes.js";

/** What only surveys need that are asked in several waves, or of each person in part. */
export const WAVES = {
  mechanisms: { memoized_rr: MemoizedRR },
  randomizers: { memoized_rr: randomizeMemoizedRR },
  provided: { checkMemo, keepAsked, keepMemo, readWaves, wavesNotes },
};
