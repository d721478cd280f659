import { blindNotes, laterStep } from "../form/steps/later.js";
import { forgetSignature, redeem, redemptionKey, signedId } from "../device/redemption.js";
import { readBlind } from "../survey/redemption.js";

/** What only surveys need whose reports come with a signature, or wait before they are sent. */
export const BLIND = {
  provided: { blindNotes, forgetSignature, laterStep, readBlind, redeem, redemptionKey, signedId },
};
