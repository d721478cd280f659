import { element } from "../form/dom.js";
import { oddsPicture } from "../form/steps/odds_picture.js";
import { beliefAfter } from "../survey/allowance.js";
import { showEpsilon } from "../survey/rational.js";

/** What few read: the odds as a picture, what an observer can believe, what cannot be hidden, and how to check it. */
export function protectionDetails({ epsilon, questions }, digest, words, claims) {
  const address = `${location.origin}${location.pathname}`;
  const line = (key, values) => words.line("p", key, values);
  return element(
    "details", {},
    words.line("summary", "protected"),
    ...questions.map((question) => oddsPicture(question, words)),
    line(questions.length > 1 ? "belief_one_together" : "belief_one", { one: beliefAfter(epsilon) }),
    line("question_epsilon", { epsilon: showEpsilon(epsilon) }),
    words.line("h2", "limits_title"),
    ...claims.map((key) => line(key)),
    line("question_cleared"),
    line("question_address", { address }),
    line("question_digest", { digest }),
  );
}
