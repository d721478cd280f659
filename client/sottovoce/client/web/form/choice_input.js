import { optionLabel } from "./odds_words.js";
import { element } from "./dom.js";

/** What few surveys need on the page, once `bringViews` has come for it. */
export const RARE_VIEWS = {};

const MAKERS = { yes_no: radioButtons, option: radioButtons, options: checkboxes };

/**
 * The control for a question: `nodes` to show, `read()` for the answer (undefined while there is none), `clear()`, the
 * sentences `note` (what may be answered) and `fault` (what to do if the answer does not fit), and `faulty()`, which
 * marks what does not fit and gives the input to begin with.
 */
export function controlFor(question, id, words, inRow = false) {
  const control = (MAKERS[question.kind.truth] ?? RARE_VIEWS.numberInput)(question, id, words, inRow);
  return question.absent === null ? control : refusable(control, id, words);
}

// The same with "prefer not to say", where that has a home within the channel; then it reads null.
function refusable(control, id, words) {
  const type = control.inputs[0].type === "radio" ? "radio" : "checkbox";
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

// One of the options, by a radio button each.
function radioButtons(question, id, words, inRow) {
  const { nodes, ...control } = options(question, id, words, "radio");
  // The radio buttons of a rating or of a matrix stand in a row where there is room.
  const shown = inRow || question.kind.sideBySide ? [element("div", { className: "scale" }, ...nodes)] : nodes;
  return { ...control, nodes: shown, fault: ["missing", {}], read: () => control.selected()[0] };
}

// Several of the options, by a checkbox each.
function checkboxes(question, id, words) {
  const control = options(question, id, words, "checkbox");
  const most = { most: question.domain.maxChoices };
  return { ...control, note: ["several", most], fault: ["too_many", most], read: control.selected };
}

// Native buttons: the keyboard and screen readers know them, and none is chosen beforehand.
function options(question, id, words, type) {
  const own = question.domain.absent ? question.options.slice(0, -1) : question.options;
  const required = type === "radio" && question.absent === null;
  const inputs = own.map((_, index) => element("input", { type, name: id, id: `${id}-${index}`, required }));
  // Yes comes first for readers; the values stay what they are.
  const usual = question.kind.truth === "yes_no" ? [1, 0] : [...inputs.keys()];
  const order = question.order ?? question.mechanism?.order ?? usual;
  const named = (index) => optionLabel(question, index, words);
  const label = (index) => element("label", { className: "option" }, inputs[index], named(index));
  return {
    inputs,
    nodes: order.map(label),
    faulty: () => inputs[order[0]],
    selected: () => own.filter((_, index) => inputs[index].checked),
    clear: () => inputs.forEach((input) => (input.checked = false)),
  };
}
