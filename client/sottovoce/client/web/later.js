import { checkStep } from "./check.js";
import { languageChoice } from "./choice.js";
import { confirmStep, endedStep } from "./ending.js";
import { RARER } from "./mechanisms/rarer.js";
import { practiceStep } from "./practice.js";
import { askingStep } from "./questions.js";
import { randomize } from "./randomizers/index.js";
import { receiptStep } from "./receipt.js";
import { reviewStep } from "./review.js";

const STEPS = { askingStep, checkStep, confirmStep, endedStep, practiceStep, receiptStep, reviewStep };

/** What is not needed until the first step stands on the page, for most surveys: the page's second file. */
export const LATER = { RARER, languageChoice, randomize, ...STEPS };
