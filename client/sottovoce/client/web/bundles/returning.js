import { plainReceiptStep, refusedStep, samePersonStep } from "../form/steps/refused.js";
import { receiptStep } from "../form/steps/receipt.js";
import { reviewStep } from "../form/steps/review.js";
import { revisionOf, surveyDrawnFor } from "../device/revisions.js";

/**
 * What a visit ends with, asked for while the questions are answered; and what those need who come back to a report, or
 * whose link names another revision than the newest.
 */
export const RETURNING = {
  provided: { plainReceiptStep, receiptStep, refusedStep, reviewStep, revisionOf, samePersonStep, surveyDrawnFor },
};
