import { maskOf } from "../../survey/answers.js";
import { button, element, heading, table } from "../dom.js";
import { Draws } from "../../device/draws.js";
import { MAX_DENOMINATOR } from "../../survey/rational.js";
import { randomize } from "../../device/randomize.js";
import { answeredInWords, reportedInWords } from "../value_words.js";

/**
 * The step before sending: what could be sent, shown for a person who does not exist and is asked the same questions.
 *
 * It is given no answers, so it cannot show one; and the report really drawn is not drawn yet. Seeing one's own "no"
 * become "yes" beforehand makes people go back and try again.
 */
export function reviewStep(survey, words, asked, onBack, onSend) {
  const title = heading(1, words.node("review_title"));
  const actions = element(
    "div",
    { className: "actions" },
    button(words.node("send"), "primary", onSend),
    button(words.node("back"), "", onBack),
  );
  const note = words.line("p", survey.ownCoin ? "review_own_coin" : "review_note", {}, { className: "lead" });
  const noLie = survey.private.length > 0 ? [words.line("p", "no_lie")] : [];
  const shown = survey.ownCoin ? [] : [example(survey, words, asked)];
  const node = element("div", {}, title, note, ...noLie, ...shown, actions);
  return { node, start: title };
}

function example(survey, words, asked) {
  const draws = new Draws();
  const invented = survey.questions.map((question, index) => (asked.includes(index) ? invent(question, draws) : null));
  const { values } = randomize(survey, invented, draws);
  const rows = asked.map((index) => [survey.questions[index], index]).map(([question, index]) => [
    words.text("span", question.label),
    answeredInWords(question, invented[index], words),
    reportedInWords(question, values[index], words),
  ]);
  const columns = ["question", "example_answer", "example_sent"].map((key) => words.node(key));
  const note = words.line("span", "example_note", {}, { className: "hint" });
  return element("section", {}, table([words.node("example_title"), note], columns, rows));
}

function invent({ domain, kind }, draws) {
  const one = () => draws.below(Math.min(domain.size, MAX_DENOMINATOR));
  if (kind.truth === "numbers") return domain.options.map(one);
  if (kind.truth !== "options") return one();
  // Two draws, often of different options, where as many may be chosen.
  return maskOf([...new Set([one(), one()].slice(0, domain.maxChoices))]);
}
