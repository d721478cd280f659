import { element } from "../dom.js";

/** What a person does with the innocuous statement of a question, after the nodes `before`. */
export function secondStatement({ mechanism }, id, words, before) {
  const { faces, label, procedure } = mechanism;
  const second = words.text("p", label, { className: "second" });
  const note = words.line("p", "innocuous_note", {}, { className: "hint" });
  const isCrosswise = procedure === "crosswise";
  const outcome = () => (faces === 1 ? "1" : words.translate("range", { first: 1, last: faces }));
  const die = () => words.line("span", "unrelated_die", () => ({ outcome: outcome() }));
  const first = isCrosswise ? words.node("crosswise_second") : die();
  const how = isCrosswise ? [words.line("p", "crosswise_how")] : [];
  const lead = element("p", {}, ...before, first);
  return element("div", { className: "by-hand", id: `${id}-hand` }, lead, second, ...how, note);
}
