import { plainReceiptStep, refusedStep, samePersonStep } from "../form/steps/refused.js";
import { revisionOf, surveyDrawnFor } from "../device/revisions.js";

/** What only those need who come back to a report, or whose link names another revision than the newest. */
export const RETURNING = {
  provided: { plainReceiptStep, refusedStep, revisionOf, samePersonStep, surveyDrawnFor },
};
