import { button, element, heading } from "../dom.js";
import { showEpsilon } from "../../survey/rational.js";

const CONFIRM = {
  withdraw: ["withdraw_title", "withdraw_note", "withdraw"],
  forget: ["forget_title", "forget_note", "forget"],
};

const ENDED = {
  withdrawn: ["withdrawn_title", "withdrawn_note"],
  forgotten: ["forgotten_title", "forgotten_note"],
};

/** The step that asks once more before a report is withdrawn or forgotten, as `how` says. */
export function confirmStep(_survey, words, how, onYes, onNo) {
  const [title, note, yes] = CONFIRM[how];
  const start = heading(1, words.node(title));
  const actions = [button(words.node(yes), "primary", onYes), button(words.node("keep"), "", onNo)];
  const row = element("div", { className: "actions" }, ...actions);
  const lead = words.line("p", note, {}, { className: "lead" });
  return { node: element("div", { id: "confirm" }, start, lead, row), start };
}

/** What is left of a report that was withdrawn or forgotten. */
export function endedStep(_survey, words, entry) {
  const [title, note] = ENDED[entry.ended];
  const start = heading(1, words.node(title));
  const lead = words.line("p", note, {}, { className: "lead" });
  const cost = words.line("p", "ended_kept", { epsilon: showEpsilon(entry.epsilon) });
  return { node: element("div", { id: "ended" }, start, lead, cost), start };
}
