import { languageChoice } from "./choice.js";
import { RARER } from "./mechanisms/rarer.js";
import { randomize } from "./randomizers/index.js";
import { receiptStep } from "./receipt.js";
import { reviewStep } from "./review.js";

/** What is not needed until the questions stand on the page, for most surveys: the page's second file. */
export const LATER = { RARER, languageChoice, randomize, receiptStep, reviewStep };
