import { RARER } from "./mechanisms/rarer.js";
import { tellParent } from "./embedding.js";
import { keepOffline } from "./offline.js";
import { sendWaiting } from "./queue.js";
import { randomize } from "./randomizers/index.js";
import { receiptStep } from "./receipt.js";
import { reviewStep } from "./review.js";

/** What is not needed until the questions stand on the page, for most surveys: the page's second file. */
export const LATER = { RARER, keepOffline, randomize, receiptStep, reviewStep, sendWaiting, tellParent };
