import { element } from "../dom.js";
import { path, picture } from "./odds_picture.js";

const BEFORE = 10;
const WIDTH = 100;
// Epsilon is a rounded logarithm: of ln 3 the share is 25, and not the 26 that its last digit would make of it.
const ROUNDING = 1e-9;

/**
 * Highest belief in percent after a loss of epsilon, for an observer whose belief was 10 % before; rounded up. See
 * `belief_after` in the Python package for the maths.
 */
export function beliefAfter(epsilon) {
  const odds = (BEFORE / (100 - BEFORE)) * Math.exp(epsilon);
  return Math.ceil((100 * odds) / (1 + odds) - ROUNDING);
}

/** Show how far an answer and the whole report can move an observer's belief: a sentence and a bar for each. */
export function beliefPicture(survey, most, words) {
  const steps = [["belief_before", 0], ["belief_answer", most.epsilon], ["belief_report", survey.epsilon]];
  // One question is the whole report.
  const shown = steps.filter(([key]) => key !== "belief_answer" || most.epsilon < survey.epsilon);
  const bars = shown.map(([key, epsilon]) => beliefBar(key, beliefAfter(epsilon), words));
  return element("div", { className: "belief" }, words.line("p", "belief"), element("ul", {}, ...bars));
}

function beliefBar(key, share, words) {
  const values = () => ({ share: share > 99 ? words.translate("more_than_99") : share });
  const lines = [path("rest", `M0 3H${WIDTH}`), path("held", `M0 3H${Math.min(share, WIDTH)}`)];
  return element("li", {}, words.line("span", key, values), picture(`0 0 ${WIDTH} 6`, ...lines));
}
