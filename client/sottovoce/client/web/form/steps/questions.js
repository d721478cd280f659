import { button, describe, element } from "../dom.js";
import { partOf, spellOdds } from "../item_view.js";
import { isShown } from "../../survey/visibility.js";

/**
 * The step that asks the questions with the indices `asked`: `{ node, start, answers(), clear(), isTouched() }`. Where
 * the form is long, `divide` gives its sections; see `sections.js`.
 *
 * The answers live in the controls and in the object that `answers()` gives, nowhere else.
 */
export function askingStep(survey, words, asked, onDone, divide = (_, items) => [items]) {
  const common = commonOdds(survey, words, asked);
  const sections = partsOf(survey, words, asked, common?.odds, divide);
  const parts = sections.flat();
  const fields = parts.flatMap((part) => part.fields);
  const fieldsSeen = () => showParts(parts).filter(isSeen);
  const summary = element("div", { className: "problem", hidden: true, tabIndex: -1 });
  const appeared = element("p", { className: "unseen", role: "status" });
  // Method dialog: outside a dialog it submits nothing, so that no failure of this script can put answers in a URL.
  const form = element("form", { method: "dialog", noValidate: true, autocomplete: "off" });
  const submit = element("button", { type: "submit", className: "primary" }, words.node("send"));
  form.append(...parts.map((part) => part.node), appeared, bar(submit));
  let isTouched = false;
  form.addEventListener("input", () => {
    isTouched = true;
    const before = parts.filter(isSeen);
    mend(fieldsSeen(), summary, words);
    announce(parts.filter((part) => isSeen(part) && !before.includes(part)), appeared, words);
  });
  showParts(parts);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (complete(fieldsSeen(), summary, words)) step.goOn();
  });
  blurWhileHidden(form);
  const title = words.text("h1", survey.title, { tabIndex: -1 });
  const unseen = words.line("h2", "questions_title", {}, { className: "unseen" });
  const how = (survey.how ?? []).map(([key, values = {}]) => words.line("p", key, values, { className: "note" }));
  const head = common ? [...how, common.node] : how;
  const step = {
    node: element("div", { id: "questions" }, title, ...head, summary, unseen, form),
    start: title,
    heading: unseen,
    answers: () => Object.fromEntries(
      fields.filter((field) => field.question).map((field) => [field.question.name, field.read()]),
    ),
    isTouched: () => isTouched,
    goOn: onDone,
    ...{ appeared, form, odds: common?.node, sections, submit, summary },
    clear: () => {
      isTouched = false;
      fields.forEach((field) => field.clear());
    },
  };
  return step;
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
  const questions = survey.private.filter((index) => asked.includes(index)).map((index) => survey.questions[index]);
  const spelled = new Map(questions.map((question) => [question, spellOdds(question, words)]));
  const like = (question) => questions.filter((other) => spelled.get(other) === spelled.get(question)).length;
  const inBlock = ({ mechanism }) => mechanism.block !== undefined;
  const [most] = [...questions].sort((one, other) => inBlock(one) - inBlock(other) || like(other) - like(one));
  if (!most) return null;
  const unless = like(most) < questions.length ? [words.node("most_questions"), words.node("gap")] : [];
  return { odds: spelled.get(most), node: element("p", { className: "odds" }, ...unless, words.odds(most)) };
}

// One part for each item, by section. What everybody sees is counted within its section: numbers neither jump nor
// change when another question comes or goes with the answers. A matrix has the rows that are asked.
function partsOf(survey, words, asked, common, divide) {
  const isAsked = (question) => asked.includes(survey.questions.indexOf(question));
  const items = survey.items.filter(({ questions }) => questions.length === 0 || questions.some(isAsked));
  const isCounted = ({ anyOf, questions, visibleIf }) => questions.length > 0 && anyOf.length + visibleIf.length === 0;
  let [first, index] = [0, 0];
  return divide(survey, items, isCounted).map((section) => {
    const total = section.filter(isCounted).length;
    let counted = 0;
    return section.map((item) => {
      const questions = item.questions.filter(isAsked);
      const rows = item.rows.filter((_, row) => isAsked(item.questions[row]));
      counted += isCounted(item);
      const number = isCounted(item) ? counted : null;
      const part = partOf({ ...item, questions, rows }, { index, first, number, total, common }, survey, words);
      first += questions.length;
      index += 1;
      return part;
    });
  });
}

// Neither a condition hides it, nor is it in another section.
function isSeen({ node }) {
  return !node.closest("[hidden]");
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
  const further = ({ item }) => [words.node("question_further"), " ", words.text("span", item.label)];
  appeared.replaceChildren(...shown.map((part) => element("span", {}, ...further(part))));
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
 * A row for buttons that stays in sight at the lower edge of the window, unless it would take more than a fifth of its
 * height, as with large text: then it stands where the text ends.
 */
function bar(press) {
  const node = element("div", { className: "actions bar" }, press);
  const fit = () => {
    if (node.isConnected) node.classList.toggle("stays", node.offsetHeight <= MOST * innerHeight);
    else removeEventListener("resize", fit);
  };
  // Its own height changes with the text; the window's does not tell it of itself.
  new ResizeObserver(fit).observe(node);
  addEventListener("resize", fit);
  return node;
}
