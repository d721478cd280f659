import { AnswerPath } from "../device/answer_path.js";
import { randomizeBinaryRR } from "../device/randomizers/binary_rr.js";
import { randomizeKaryRR } from "../device/randomizers/kary_rr.js";
import { receiptStep } from "../form/steps/receipt.js";
import { sendWaiting } from "../device/delivery.js";
import { tellParent } from "../form/embedding.js";

/** What every visit needs, but not until the questions stand on the page. */
export const SENDING = {
  randomizers: { binary_rr: randomizeBinaryRR, kary_rr: randomizeKaryRR },
  provided: { AnswerPath, receiptStep, sendWaiting, tellParent },
};
