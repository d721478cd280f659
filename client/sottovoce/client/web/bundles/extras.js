import { confirmStep, endedStep } from "../form/steps/withdraw.js";
import { limitsForm, limitsList } from "../form/allowance_form.js";
import { practiceStep } from "../form/steps/practice.js";

/** What few people open. */
export const EXTRAS = { provided: { confirmStep, endedStep, limitsForm, limitsList, practiceStep } };
