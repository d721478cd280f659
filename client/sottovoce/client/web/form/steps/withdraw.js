import { button, row, titled } from "../dom.js";
import { showEpsilon } from "../../survey/rational.js";

/** The step that asks once more before a report is withdrawn or forgotten, as `how` says. */
export function confirmStep(_survey, words, how, onYes, onNo) {
  const actions = [button(words.node(how), "primary", onYes), button(words.node("keep"), "", onNo)];
  return titled({ id: "confirm" }, words.node(`${how}_title`), lead(words, how), row(...actions));
}

/** What is left of a report that was withdrawn or forgotten. */
export function endedStep(_survey, words, entry) {
  const cost = words.line("p", "ended_kept", { epsilon: showEpsilon(entry.epsilon) });
  return titled({ id: "ended" }, words.node(`${entry.ended}_title`), lead(words, entry.ended), cost);
}

function lead(words, how) {
  return words.line("p", `${how}_note`, {}, { className: "lead" });
}
