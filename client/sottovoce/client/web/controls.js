import { element } from "./dom.js";
import { dumpDecimal } from "./rational.js";

/**
 * The control for a question: `nodes` to show, `read()` for the answer (undefined while there is none), `clear()`, the
 * sentences `note` (what may be answered) and `fault` (what to do if the answer does not fit), and `faulty()`, which
 * marks what does not fit and gives the input to begin with.
 */
export function controlFor(question, id, words, inRow = false) {
  if (question.domain.grid !== null) return refusable(numbers(question, id, words), question, id, words, "checkbox");
  if (question.type !== "select_multiple") return refusable(radios(question, id, words, inRow), question, id, words, "radio");
  return refusable(checkboxes(question, id, words), question, id, words, "checkbox");
}

// The same with "prefer not to say", where that has a home within the channel; then it reads null.
function refusable(control, question, id, words, type) {
  if (question.absent === null) return control;
  const refusal = element("input", { type, name: id, id: `${id}-absent` });
  const enable = () => control.inputs.forEach((input) => (input.disabled = type === "checkbox" && refusal.checked));
  refusal.addEventListener("change", enable);
  return {
    ...control,
    nodes: [...control.nodes, element("label", { className: "option" }, refusal, words.node("prefer_not"))],
    read: () => (refusal.checked ? null : control.read()),
    faulty() {
      if (!refusal.checked) return control.faulty();
      for (const input of control.inputs) input.removeAttribute("aria-invalid");
      return refusal;
    },
    clear() {
      control.clear();
      refusal.checked = false;
      enable();
    },
  };
}

function radios(question, id, words, inRow) {
  const { nodes, ...control } = options(question, id, words, "radio");
  // The radio buttons of a rating or of a matrix stand in a row where there is room.
  const shown = inRow || question.type === "rating" ? [element("div", { className: "scale" }, ...nodes)] : nodes;
  return { ...control, nodes: shown, fault: ["missing", {}], read: () => control.chosen()[0] };
}

function checkboxes(question, id, words) {
  const control = options(question, id, words, "checkbox");
  const most = { most: question.domain.maxChoices };
  return { ...control, note: ["several", most], fault: ["too_many", most], read: control.chosen };
}

// Native buttons: the keyboard and screen readers know them, and none is chosen beforehand.
function options(question, id, words, type) {
  const own = question.domain.absent ? question.options.slice(0, -1) : question.options;
  const inputs = own.map((_, index) => element("input", { type, name: id, id: `${id}-${index}` }));
  // Yes comes first for readers; the values stay what they are.
  const order = question.type === "boolean" ? [1, 0] : [...inputs.keys()];
  return {
    inputs,
    nodes: order.map((index) => element("label", { className: "option" }, inputs[index], words.option(question, index))),
    faulty: () => inputs[order[0]],
    chosen: () => own.filter((_, index) => inputs[index].checked),
    clear: () => inputs.forEach((input) => (input.checked = false)),
  };
}

// One text field, or one for each coordinate. A browser's own number fields round, and change when a wheel turns.
function numbers(question, id, words) {
  const { grid, options: names } = question.domain;
  const inputs = (names.length ? names : [""]).map((_, index) => textField(question, id, index));
  const texts = () => inputs.map((input) => words.typed(input.value));
  const values = { min: grid.number(0), max: grid.number(grid.steps), step: dumpDecimal(grid.step) };
  const label = (input, index) => element("label", { className: "entry" }, words.option(question, index), input);
  return {
    inputs,
    nodes: names.length ? inputs.map(label) : inputs,
    note: ["number_note", values],
    fault: ["number_fault", values],
    read: () => (names.length ? Object.fromEntries(texts().map((text, index) => [names[index], text])) : texts()[0]),
    faulty() {
      const wrong = inputs.filter((_, index) => !grid.has(texts()[index]));
      for (const input of inputs) input.setAttribute("aria-invalid", wrong.includes(input));
      return wrong[0] ?? inputs[0];
    },
    clear: () => inputs.forEach((input) => (input.value = "")),
  };
}

function textField({ domain, type }, id, index) {
  // Some telephones' number pads have no minus sign.
  const inputMode = domain.grid.low < 0n ? "text" : type === "integer" ? "numeric" : "decimal";
  const properties = { type: "text", inputMode, id: `${id}-${index}` };
  const aria = { "aria-describedby": `${id}-note ${id}-fault` };
  if (domain.options.length === 0) aria["aria-labelledby"] = `${id}-label`;
  return element("input", { ...properties, ...aria });
}
