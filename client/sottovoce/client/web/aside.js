import { confirmStep, endedStep } from "./ending.js";
import { limitsForm, limitsList } from "./limits.js";
import { practiceStep } from "./practice.js";

/** What few people open. */
export const ASIDE = { confirmStep, endedStep, limitsForm, limitsList, practiceStep };
