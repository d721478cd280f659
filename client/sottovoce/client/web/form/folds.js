import { checkForm } from "./steps/before.js";
import { element } from "./dom.js";
import { practice } from "./steps/practice.js";
import { sentences } from "./steps/explanation.js";
import { showEpsilon } from "../survey/rational.js";
import { whenInWords } from "./phrases.js";

/**
 * How chance protects answers, what it costs, an example to try, and, where it is no step of its own, one question
 * that shows whether this is clear. `spent` is what all reports to this aggregator cost.
 */
export async function howItWorks(words, survey, spent) {
  const cost = words.line("p", "explain_epsilon", { epsilon: showEpsilon(survey.epsilon) });
  const earlier = spent > 0 ? [words.line("p", "spent", { spent: showEpsilon(spent) })] : [];
  const example = survey.ownCoin || survey.isByFacts ? [] : [await practice(survey, words)];
  const check = survey.check || survey.isByFacts ? [] : [checkForm(survey, words)];
  const why = element("p", {}, ...sentences(["evens_out", "no_lie", "not_kept"], words));
  return element("div", {}, why, cost, ...earlier, ...example, ...check);
}

/** What no odds can hide. */
export function limitsList(words, { isByFacts, ownCoin, quickExit }) {
  const device = ownCoin || isByFacts ? "limits_tossed" : "limits_device";
  const keys = ["limits_presence", "limits_time", device, "limits_page"];
  if (quickExit) keys.push("exit_stays", "exit_seen", "exit_keys");
  return element("ul", {}, ...keys.map((key) => words.line("li", key)));
}

/** What the survey says of itself: what it is for, who has looked at it, what becomes of what is sent. */
export function aboutStudy(words, survey, revision) {
  const { deleteOn, description, notice, researcher } = survey;
  const texts = [description, researcher?.ethics].filter(Boolean).map((text) => words.text("p", text));
  if (notice) texts.push(words.line("h2", "notice_title"), words.text("p", notice));
  if (deleteOn) texts.push(words.line("p", "about_deleted", () => ({ date: whenInWords(deleteOn, words) })));
  if (revision) texts.push(words.line("p", "about_revision", revision));
  return element("div", {}, ...texts);
}
