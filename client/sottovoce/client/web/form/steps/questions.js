import { button, element } from "../dom.js";
import { partOf } from "../item_view.js";
import { isShown } from "../../survey/visibility.js";

/**
 * The step that asks the questions with the indices `asked`: `{ node, start, answers(), clear() }`.
 *
 * The answers live in the controls and in the object that `answers()` gives, nowhere else.
 */
export function askingStep(survey, words, asked, onDone) {
  const parts = partsOf(survey, words, asked);
  const fields = parts.flatMap((part) => part.fields);
  const summary = element("div", { className: "problem", hidden: true, tabIndex: -1 });
  // Method dialog: outside a dialog it submits nothing, so that no failure of this script can put answers in a URL.
  const form = element("form", { method: "dialog", noValidate: true, autocomplete: "off" });
  form.append(...parts.map((part) => part.node), submitRow(words));
  form.addEventListener("input", () => showParts(parts));
  showParts(parts);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (complete(showParts(parts), summary, words)) onDone();
  });
  const given = () => fields.filter((field) => field.question).map((field) => [field.question.name, field.read()]);
  const title = words.text("h1", survey.title, { tabIndex: -1 });
  const unseen = words.line("h2", "questions_title", {}, { className: "unseen" });
  return {
    node: element("div", {}, title, words.line("p", "not_kept", {}, { className: "hint" }), summary, unseen, form),
    start: title,
    answers: () => Object.fromEntries(given()),
    clear: () => fields.forEach((field) => field.clear()),
  };
}

// One part for each item. What everybody sees is counted: numbers neither jump nor change when another question comes
// or goes with the answers. A matrix has the rows that are asked.
function partsOf(survey, words, asked) {
  const isAsked = (question) => asked.includes(survey.questions.indexOf(question));
  const items = survey.items.filter(({ questions }) => questions.length === 0 || questions.some(isAsked));
  const isCounted = ({ anyOf, questions, visibleIf }) => questions.length > 0 && anyOf.length + visibleIf.length === 0;
  const total = items.filter(isCounted).length;
  let [counted, first] = [0, 0];
  return items.map((item, index) => {
    const questions = item.questions.filter(isAsked);
    const rows = item.rows.filter((_, row) => isAsked(item.questions[row]));
    counted += isCounted(item);
    const number = isCounted(item) ? counted : null;
    const part = partOf({ ...item, questions, rows }, { index, first, number, total }, survey, words);
    first += questions.length;
    return part;
  });
}

// Show what the answers so far ask for, and hide the rest; gives the fields that are shown.
function showParts(parts) {
  const given = new Map();
  return parts.flatMap(({ fields, item, node }) => {
    node.hidden = !isShown(item.visibleIf, item.anyOf, given);
    if (node.hidden) return [];
    for (const { fits, question, read } of fields) {
      if (question && fits() && read() !== null) given.set(question.name, question.encode(read()));
    }
    return fields;
  });
}

function submitRow(words) {
  const submit = element("button", { type: "submit", className: "primary" }, words.node("to_review"));
  return element("div", { className: "actions" }, submit, words.line("p", "to_review_note", {}, { className: "hint" }));
}

// Whether every answer fits; if not, the summary says which do not and takes the focus.
function complete(fields, summary, words) {
  const wrong = fields.filter((field) => !field.fits());
  for (const field of fields) {
    field.faulty();
    field.fault.hidden = !wrong.includes(field);
    field.node.classList.toggle("lacking", wrong.includes(field));
  }
  summary.hidden = wrong.length === 0;
  if (summary.hidden) return true;
  const line = (field) => element("li", {}, summaryLink(field, words), " ", words.node(...field.faultWords));
  summary.replaceChildren(words.line("h2", "missing_title"), element("ul", {}, ...wrong.map(line)));
  summary.focus();
  return false;
}

// A button and not an anchor: following an anchor would overwrite the digest in the address.
function summaryLink(field, words) {
  return button(words.text("span", field.label), "link", () => field.faulty().focus());
}
