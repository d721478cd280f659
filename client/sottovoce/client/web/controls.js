import { element } from "./dom.js";

/**
 * The closed list of controls, one per question type: (question, id, words) -> a control with `nodes` to show,
 * `first` to focus, `read()` for the answer (undefined while there is none) and `clear()`.
 */
export const CONTROLS = new Map([
  ["boolean", radios],
  ["select_one", radios],
  ["rating", radios],
]);

// Native radio buttons: the keyboard and screen readers know them, and none is chosen beforehand.
function radios(question, id, words) {
  const inputs = question.options.map((_, index) => radio(id, index));
  // Yes comes first for readers; the values stay what they are.
  const order = question.type === "boolean" ? [1, 0] : [...inputs.keys()];
  const nodes = order.map((index) =>
    element("label", { className: "option" }, inputs[index], words.option(question, index)),
  );
  return {
    nodes,
    first: inputs[order[0]],
    read: () => question.options[inputs.findIndex((input) => input.checked)],
    clear: () => inputs.forEach((input) => (input.checked = false)),
  };
}

function radio(id, index) {
  return element("input", { type: "radio", name: id, id: `${id}-${index}`, value: String(index), autocomplete: "off" });
}
