import { button, element, heading, table } from "./dom.js";
import { Draws } from "./draws.js";
import { randomize } from "./respondent.js";

/**
 * The step before sending: what could be sent, shown for a person who does not exist.
 *
 * It is given no answers, so it cannot show one; and the report really drawn is not drawn yet. Seeing one's own "no"
 * become "yes" beforehand makes people go back and try again.
 */
export function reviewStep(survey, words, onBack, onSend) {
  const title = heading(1, words.node("review_title"));
  const actions = element(
    "div",
    { className: "actions" },
    button(words.node("send"), "primary", onSend),
    button(words.node("back"), "", onBack),
  );
  const note = words.said("p", "review_note", {}, { className: "lead" });
  const node = element("div", {}, title, note, example(survey, words), actions);
  return { node, start: title };
}

function example(survey, words) {
  const draws = new Draws();
  const invented = survey.questions.map((question) => draws.below(question.inputs));
  const { values } = randomize(survey, invented, draws);
  const rows = survey.questions.map((question, index) => [
    words.text("span", question.label),
    words.option(question, invented[index]),
    words.option(question, values[index]),
  ]);
  const columns = ["example_question", "example_answer", "example_sent"].map((key) => words.node(key));
  const note = words.said("span", "example_note", {}, { className: "hint" });
  return element("section", {}, table([words.node("example_title"), note], columns, rows));
}
