import { checkForm } from "./steps/check.js";
import { element } from "./dom.js";
import { practice } from "./steps/practice.js";
import { sentences } from "./steps/explanation.js";
import { showEpsilon } from "../survey/rational.js";

/**
 * How chance protects answers, what it costs, an example to try, and, where it is no step of its own, one question
 * that shows whether this is clear. `spent` is what all reports to this aggregator cost.
 */
export async function howItWorks(words, survey, spent) {
  const cost = words.line("p", "explain_epsilon", { epsilon: showEpsilon(survey.epsilon) });
  const earlier = spent > 0 ? [words.line("p", "spent", { spent: showEpsilon(spent) })] : [];
  const example = survey.ownCoin ? [] : [await practice(survey, words)];
  const check = survey.check ? [] : [checkForm(survey, words)];
  const why = element("p", {}, ...sentences(["evens_out", "no_lie"], words));
  return element("div", {}, why, cost, ...earlier, ...example, ...check);
}

/** What no odds can hide. */
export function limitsList(words, ownCoin) {
  const device = ownCoin ? "limits_tossed" : "limits_device";
  const keys = ["limits_presence", "limits_time", device, "limits_page"];
  return element("ul", {}, ...keys.map((key) => words.line("li", key)));
}
