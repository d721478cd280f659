import { RARE_READERS } from "./known.js";
import { must } from "./rational.js";
import { isShown } from "./visibility.js";

/**
 * What goes with the receipt of people whom the survey is not for, by answers to public questions: a link by a private
 * one would give that answer away. The survey knows the conditions from now on.
 */
export function readScreenOut({ when, ...value }, survey) {
  must(!("screen_out" in value || "by_arm" in value));
  RARE_READERS.readAfter(value, survey);
  const open = survey.questions.filter(({ mechanism }) => mechanism === null);
  survey.screenOut = RARE_READERS.readConditions(when, [], new Map(open.map((question) => [question.name, question])));
}

/** Which text and links go with a receipt: a function of the sent values, of which private ones have no say. */
export function ending({ after, questions, screenOut }, reports) {
  const open = questions.flatMap(({ mechanism, name }, index) => (mechanism === null ? [[name, reports[index]]] : []));
  // What is not asked in an arm is no answer.
  const given = new Map(open.filter(([, value]) => value !== null));
  return screenOut && isShown(screenOut, [], given) ? after.screen_out : after;
}
