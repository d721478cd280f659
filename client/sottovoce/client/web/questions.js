import { controlFor } from "./controls.js";
import { button, element } from "./dom.js";
import { showEpsilon } from "./rational.js";

/**
 * The step that asks: `{ node, start, answers(), clear() }`.
 *
 * The answers live in the controls and in the object that `answers()` gives, nowhere else.
 */
export function askingStep(survey, words, hasDigest, onDone) {
  const fields = survey.questions.map((question, index) => questionField(question, index, survey, words));
  const summary = element("div", { className: "problem", hidden: true, tabIndex: -1 });
  // Method dialog: outside a dialog it submits nothing, so that no failure of this script can put answers in a URL.
  const form = element("form", { method: "dialog", noValidate: true, autocomplete: "off" });
  form.append(...fields.map((field) => field.node), submitRow(words));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (complete(fields, summary, words)) onDone();
  });
  const title = words.text("h1", survey.title, { tabIndex: -1 });
  const intro = introduction(survey, words, hasDigest);
  return {
    node: element("div", {}, title, ...intro, summary, words.said("h2", "questions_title", {}, { className: "unseen" }), form),
    start: title,
    answers: () => Object.fromEntries(fields.map((field) => [field.question.name, field.read()])),
    clear: () => fields.forEach((field) => field.clear()),
  };
}

function introduction(survey, words, hasDigest) {
  const nodes = [];
  if (survey.description !== null) nodes.push(words.text("p", survey.description, { className: "lead" }));
  if (!hasDigest) nodes.push(words.said("p", "no_digest", {}, { className: "note" }));
  nodes.push(explanation(survey, words));
  if (survey.consent !== null) {
    const title = words.said("h2", "consent_title");
    nodes.push(element("section", {}, title, words.text("p", survey.consent)));
  }
  return nodes;
}

function explanation(survey, words) {
  const section = element("section", { className: "explain" }, words.said("h2", "explain_title"), words.said("p", "explain_how"));
  section.append(words.said("p", "explain_epsilon", { epsilon: showEpsilon(survey.epsilon) }));
  const limits = ["limits_presence", "limits_device", "limits_page"].map((key) => words.said("li", key));
  section.append(element("details", {}, words.said("summary", "limits_title"), element("ul", {}, ...limits)));
  return section;
}

function questionField(question, index, survey, words) {
  const id = `q${index}`;
  const control = controlFor(question, id, words);
  const fault = words.said("p", ...control.fault, { className: "missing", id: `${id}-fault`, hidden: true });
  const odds = element("p", { className: "odds", id: `${id}-odds` }, badge(question, words), " ", words.odds(question));
  const number = words.said("span", "question_number", { number: index + 1, total: survey.questions.length }, { className: "number" });
  const legend = element("legend", {}, number, words.text("span", question.label, { id: `${id}-label` }));
  const notes = [];
  if (question.hint !== null) notes.push(words.text("p", question.hint, { className: "hint", id: `${id}-hint` }));
  if (control.note) notes.push(words.said("p", ...control.note, { className: "hint", id: `${id}-note` }));
  const described = [...notes, odds, fault].map((node) => node.id).join(" ");
  const node = element("fieldset", { "aria-describedby": described }, legend, ...notes, fault, ...control.nodes, odds);
  return { question, node, ...control, fault, telling: control.fault };
}

function badge(question, words) {
  if (question.mechanism === null) return words.said("span", "public", {}, { className: "badge public" });
  return words.said("span", "question_epsilon", { epsilon: showEpsilon(question.epsilon) }, { className: "badge" });
}

function submitRow(words) {
  const submit = element("button", { type: "submit", className: "primary" }, words.node("to_review"));
  return element("div", { className: "actions" }, submit, words.said("p", "to_review_note", {}, { className: "hint" }));
}

// Whether every answer fits; if not, the summary says which do not and takes the focus.
function complete(fields, summary, words) {
  const wrong = fields.filter((field) => !fits(field));
  for (const field of fields) {
    field.faulty();
    field.fault.hidden = !wrong.includes(field);
    field.node.classList.toggle("lacking", wrong.includes(field));
  }
  summary.hidden = wrong.length === 0;
  if (summary.hidden) return true;
  const links = wrong.map((field) => element("li", {}, summaryLink(field, words), " ", words.node(...field.telling)));
  summary.replaceChildren(words.said("h2", "missing_title"), element("ul", {}, ...links));
  summary.focus();
  return false;
}

function fits({ question, read }) {
  try {
    question.encode(read());
    return true;
  } catch {
    return false;
  }
}

// A button and not an anchor: following an anchor would overwrite the digest in the address.
function summaryLink(field, words) {
  return button(words.text("span", field.question.label), "link", () => field.faulty().focus());
}
