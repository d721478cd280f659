// Runs what the scripts beside this file do with answers, and prints what came of it. An error is printed as null, or
// as false: the reason could repeat a value.
//
// In:   { scripts, questions: [{ question, inputs, most }], survey, possible: [values], outside: [values],
//         set: a survey or null, histories: [{ survey, answers: for each truth those of each wave }], most }
// Out:  { distributions: for each question, by input, [[reported, bounds, "part/whole"]],
//         procedures: for each question what a person does by hand, accepted: whether each report of what is possible
//         was drawn, refused: whether each other one was refused, set: the distribution of the questions asked,
//         histories: for each one the distributions of all its reports together, by truth,
//         source: what is wrong with the source of randomness }
import { readFileSync } from "node:fs";

import {
  WatchedDraws,
  distributionsOf,
  historiesOf,
  inOrder,
  procedureOf,
  setDistributionOf,
} from "./javascript_distributions.mjs";
import { loadProduct } from "./javascript_product.mjs";
import { checkSource } from "./javascript_source.mjs";

const order = JSON.parse(readFileSync(0, "utf-8"));
const print = process.stdout.write.bind(process.stdout);
const product = await loadProduct(order.scripts);
const asked = await product.loadSurvey(new TextEncoder().encode(order.survey));
await product.bringRandomizers(asked);
const WRONG = [NaN, Infinity, undefined];
const notNumbers = order.possible.flatMap((given, index) => WRONG.map((value) => given.with(index, value)));

// Whether values are refused before anything was drawn; null if they are not refused.
function isRefused(values) {
  const draws = new WatchedDraws();
  try {
    product.randomize(asked, values, draws);
  } catch {
    return !draws.touched;
  }
  return null;
}

const found = {
  distributions: await inOrder(order.questions, (question) => distributionsOf(product, question)),
  procedures: order.questions.map((question) => procedureOf(product, question)),
  accepted: order.possible.map((values) => isRefused(values) === null),
  refused: [...order.outside, ...notNumbers].map(isRefused),
  set: order.set === null ? null : await setDistributionOf(product, order.set, order.most),
  histories: await inOrder(order.histories, (history) => historiesOf(product, history, order.most)),
  source: checkSource(product),
};
print(JSON.stringify(found));
