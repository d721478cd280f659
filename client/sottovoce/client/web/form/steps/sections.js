import { button, element } from "../dom.js";
import { SECTION_SENTENCES } from "../../survey/sentences/section.js";

// A form with more questions has sections.
const LONG = 12;
// How many questions a section has at most, and before and after a text that begins one.
const MOST_TOGETHER = 10;
const FEWEST_TOGETHER = 3;

/**
 * The items of a form in lists, one for each section. What depends on an answer does not count, so that neither the
 * number of sections nor where they begin tells of one.
 *
 * A section begins with a text of the survey; where order is drawn, a text goes along with the item after it and begins
 * none. What is still long is cut into equal sections.
 */
export function divide(survey, items, isCounted) {
  const units = unitsOf(items, isCounted);
  if (counted(units) <= LONG) return [items];
  const isMoved = survey.document.order !== undefined;
  const isLast = (unit) => counted(units.slice(units.indexOf(unit))) < FEWEST_TOGETHER;
  const byTexts = cut(units, (unit, size) => !isMoved && unit.hasText && size >= FEWEST_TOGETHER && !isLast(unit));
  const sections = byTexts.flatMap((list) => {
    const most = Math.ceil(counted(list) / Math.ceil(counted(list) / MOST_TOGETHER));
    return cut(list, (_, size) => size >= most);
  });
  return sections.map((list) => list.flatMap((unit) => unit.items));
}

// Each item that asks, with the texts before it; texts at the end stand alone.
function unitsOf(items, isCounted) {
  const units = [];
  let texts = [];
  for (const item of items) {
    texts.push(item);
    if (item.questions.length === 0 && item !== items.at(-1)) continue;
    units.push({ items: texts, isCounted: isCounted(item), hasText: texts.length > 1 && isForAll(texts[0]) });
    texts = [];
  }
  return units;
}

function isForAll({ anyOf, visibleIf }) {
  return anyOf.length + visibleIf.length === 0;
}

function counted(units) {
  return units.filter((unit) => unit.isCounted).length;
}

// A new list where `begins(unit, size)`, after so many counted ones; what depends on an answer begins none.
function cut(units, begins) {
  const lists = [[]];
  for (const unit of units) {
    if (unit.isCounted && begins(unit, counted(lists.at(-1)))) lists.push([]);
    lists.at(-1).push(unit);
  }
  return lists;
}

/** A step for each section of the step that asks; gives the first of them. */
export function inSections(asking, words, view) {
  const { appeared, form, goOn: send, odds, sections, submit, summary } = asking;
  if (sections.length === 1) return asking;
  words.rare.add(SECTION_SENTENCES);
  const total = sections.length;
  const headed = (_, index) => words.line("h2", "section_title", { number: index + 1, total }, { tabIndex: -1 });
  const heads = sections.map(headed);
  const rooms = sections.map((parts, index) =>
    element("div", {}, heads[index], progress(index + 1, total), ...parts.map(({ node }) => node)),
  );
  const back = button(words.node("keep"), "", () => view.back());
  const forwards = [words.node("section_next"), words.node("send")];
  let current = 0;
  const open = (index) => {
    current = index;
    const isLast = index + 1 === total;
    rooms.forEach((room, other) => (room.hidden = other !== index));
    [back.hidden, summary.hidden] = [index === 0, true];
    odds?.toggleAttribute("hidden", sections[index].every(({ item }) => item.questions.every(isPublic)));
    // What it announced is in another section.
    appeared.replaceChildren();
    submit.replaceChildren(forwards[Number(isLast)]);
    asking.goOn = isLast ? finish : () => view.enter(steps[index + 1]);
  };
  // With the browser's Forward, a section with a fault can be passed over.
  const finish = () => {
    const wrong = sections.findIndex((parts) => parts.some(isWrong));
    if (wrong < 0) return send();
    addEventListener("popstate", () => form.dispatchEvent(new Event("submit")), { once: true });
    // Another entry in the browser's history would tell that a further question was shown.
    view.back(total - 1 - wrong);
  };
  const steps = sections.map((_, index) => ({
    ...asking,
    heading: heads[index],
    start: index === 0 ? asking.start : heads[index],
    // All have one node, which is opened at the section as the step is shown.
    get node() {
      open(index);
      return asking.node;
    },
  }));
  form.prepend(...rooms);
  submit.before(back);
  // A researcher's preview goes to a question without answering those before it.
  const reveal = (index) => steps.slice(Math.min(current + 1, index), index + 1).forEach((step) => view.enter(step));
  rooms.forEach((room, index) => room.addEventListener("reveal", () => reveal(index)));
  return steps[0];
}

function isPublic({ mechanism }) {
  return !mechanism;
}

function isWrong({ fields, node }) {
  return !node.hidden && fields.some((field) => !field.fits());
}

// The heading beside it says the same in words.
function progress(value, max) {
  const node = element("progress", { max, value, "aria-hidden": true });
  node.style.cssText = "inline-size:100%;margin-block-end:1.25rem;accent-color:var(--accent)";
  return node;
}
