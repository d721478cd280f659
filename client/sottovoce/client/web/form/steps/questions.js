import { button, describe, element } from "../dom.js";
import { partOf, spellOdds } from "../item_view.js";
import { isShown } from "../../survey/visibility.js";

/**
 * The step that asks the questions with the indices `asked`: `{ node, start, answers(), clear(), isTouched() }`.
 *
 * The answers live in the controls and in the object that `answers()` gives, nowhere else.
 */
export function askingStep(survey, words, asked, onDone) {
  const common = commonOdds(survey, words, asked);
  const parts = partsOf(survey, words, asked, common?.odds);
  const fields = parts.flatMap((part) => part.fields);
  const summary = element("div", { className: "problem", hidden: true, tabIndex: -1 });
  const appeared = element("p", { className: "unseen", role: "status" });
  // Method dialog: outside a dialog it submits nothing, so that no failure of this script can put answers in a URL.
  const form = element("form", { method: "dialog", noValidate: true, autocomplete: "off" });
  const submit = element("button", { type: "submit", className: "primary" }, words.node("send"));
  form.append(...parts.map((part) => part.node), appeared, bar([submit]));
  let isTouched = false;
  form.addEventListener("input", () => {
    isTouched = true;
    const before = parts.filter(({ node }) => !node.hidden);
    mend(showParts(parts), summary, words);
    announce(parts.filter((part) => !part.node.hidden && !before.includes(part)), appeared, words);
  });
  showParts(parts);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (complete(showParts(parts), summary, words)) onDone();
  });
  blurWhileHidden(form);
  const given = () => fields.filter((field) => field.question).map((field) => [field.question.name, field.read()]);
  const title = words.text("h1", survey.title, { tabIndex: -1 });
  const unseen = words.line("h2", "questions_title", {}, { className: "unseen" });
  const how = (survey.how ?? []).map(([key, values = {}]) => words.line("p", key, values, { className: "note" }));
  const head = common ? [...how, common.node] : how;
  return {
    node: element("div", { id: "questions" }, title, ...head, summary, unseen, form),
    start: title,
    heading: unseen,
    answers: () => Object.fromEntries(given()),
    isTouched: () => isTouched,
    clear: () => {
      isTouched = false;
      fields.forEach((field) => field.clear());
    },
  };
}

// What shows the open pages side by side makes a picture of a page that is hidden.
function blurWhileHidden(form) {
  document.addEventListener("visibilitychange", () => {
    form.style.filter = document.hidden ? "blur(1rem)" : "";
  });
}

// The odds that most of the questions have, the first of equals, once above them all: `{ odds, node }`. The odds of a
// block tell nothing of other questions, and stand above them only where there are no others.
function commonOdds(survey, words, asked) {
  const isPrivate = (index) => asked.includes(index) && survey.questions[index].mechanism !== null;
  const questions = survey.private.filter(isPrivate).map((index) => survey.questions[index]);
  const spelled = questions.map((question) => spellOdds(question, words));
  const count = (odds) => spelled.filter((other) => other === odds).length;
  const inBlock = (odds) => questions[spelled.indexOf(odds)].mechanism.block !== undefined;
  const [odds] = [...spelled].sort((one, other) => inBlock(one) - inBlock(other) || count(other) - count(one));
  if (odds === undefined) return null;
  const question = questions[spelled.indexOf(odds)];
  const unless = count(odds) < spelled.length ? [words.node("most_questions"), " "] : [];
  const node = element("p", { className: "odds" }, ...unless, words.odds(question));
  return { odds, node };
}

// One part for each item. What everybody sees is counted: numbers neither jump nor change when another question comes
// or goes with the answers. A matrix has the rows that are asked.
function partsOf(survey, words, asked, common) {
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
    const part = partOf({ ...item, questions, rows }, { index, first, number, total, common }, survey, words);
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

// A question that appears with an answer is announced: it may be below what is seen or heard.
function announce(shown, appeared, words) {
  const sentence = (item) => [words.node("question_further"), " ", words.text("span", item.label)];
  const lines = shown.map(({ item }) => element("span", {}, ...sentence(item)));
  appeared.replaceChildren(...lines);
}

// Whether every answer fits; if not, the summary says which do not and takes the focus.
function complete(fields, summary, words) {
  const wrong = fields.filter((field) => !field.fits());
  for (const field of fields) markField(field, wrong.includes(field));
  listWrong(wrong, summary, words);
  if (summary.hidden) return true;
  summary.focus();
  return false;
}

// A fault vanishes as soon as it is mended; none appears before Send is pressed.
function mend(fields, summary, words) {
  const marked = fields.filter(({ fault }) => !fault.hidden);
  const mended = marked.filter((field) => field.fits());
  for (const field of mended) markField(field, false);
  if (mended.length > 0) listWrong(marked.filter((field) => !mended.includes(field)), summary, words);
}

function markField(field, isWrong) {
  field.faulty();
  field.fault.hidden = !isWrong;
  field.node.classList.toggle("lacking", isWrong);
  describe(field.node, ...field.describing, ...(isWrong ? [field.fault] : []));
}

function listWrong(wrong, summary, words) {
  summary.hidden = wrong.length === 0;
  const line = (field) => element("li", {}, summaryLink(field, words), " ", words.node(...field.faultWords));
  summary.replaceChildren(words.line("h2", "missing_title"), element("ul", {}, ...wrong.map(line)));
}

// A button and not an anchor: following an anchor would overwrite the digest in the address.
function summaryLink(field, words) {
  return button(words.text("span", field.label), "link", () => field.faulty().focus());
}

const MOST = 1 / 5;

/**
 * A row of buttons that stays in sight at the lower edge of the window, unless it would take more than a fifth of its
 * height, as with large text: then it stands where the text ends.
 */
function bar(buttons) {
  const node = element("div", { className: "actions bar" }, ...buttons);
  const fit = () => {
    if (node.isConnected) node.classList.toggle("stays", node.offsetHeight <= MOST * innerHeight);
    else removeEventListener("resize", fit);
  };
  // Its own height changes with the text; the window's does not tell it of itself.
  new ResizeObserver(fit).observe(node);
  addEventListener("resize", fit);
  return node;
}
