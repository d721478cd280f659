import { button, element, heading } from "../dom.js";

const CHANCES = 2;
const ANSWERS = ["check_seen", "check_chance", "check_later"];
const RIGHT = 1;

/** One question about the protection, two tries. It may be skipped, and how it went is kept nowhere. */
export function checkStep(_survey, words, onDone) {
  const inputs = ANSWERS.map(() => element("input", { type: "radio", name: "check" }));
  const option = (key, index) => element("label", { className: "option" }, inputs[index], words.node(key));
  const legend = element("legend", {}, words.node("check_question"));
  const feedback = element("p", { role: "status", className: "told" });
  const submit = element("button", { type: "submit", className: "primary" }, words.node("check_submit"));
  const skip = button(words.node("to_questions"), "", onDone);
  const actions = element("div", { className: "actions" }, submit, skip);
  const choices = element("fieldset", {}, legend, ...ANSWERS.map(option), feedback);
  const form = element("form", { method: "dialog", autocomplete: "off" }, choices, actions);
  let tries = 0;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const selected = inputs.findIndex((input) => input.checked);
    if (selected >= 0) tries += 1;
    const isOver = selected === RIGHT || tries === CHANCES;
    const verdict = isOver ? "check_told" : "check_wrong";
    const sentence = selected < 0 ? "missing" : selected === RIGHT ? "check_right" : verdict;
    feedback.replaceChildren(words.node(sentence));
    if (!isOver) return;
    for (const input of inputs) input.disabled = true;
    submit.remove();
    skip.className = "primary";
    skip.focus();
  });
  const start = heading(1, words.node("check_title"));
  const note = words.line("p", "check_note", {}, { className: "lead" });
  return { node: element("div", { id: "check" }, start, note, form), start };
}
