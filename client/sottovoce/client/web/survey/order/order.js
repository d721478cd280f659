import { must } from "../rational.js";

const SCALES = ["select_one", "rating"];

/** Refuse an order of what has none, and names that are not in the list; the law is in the Python twin. */
export function readOrders(document, survey) {
  readOrder(document, unitsOfItems(survey).map(({ name }) => name), ["random"]);
  for (const [index, { own }] of entriesOf(document).entries()) {
    const item = survey.items[index];
    readOrder(own, namesOf(own, item), SCALES.includes(item.type) ? ["random", "reversed_half"] : ["random"]);
  }
  // Read by the step that asks; undefined in other surveys.
  survey.isOrdered = orderedLists(survey).length > 0;
}

function readOrder({ keep_last: last, order }, names, kinds) {
  if (order === undefined) return must(last === undefined);
  must(kinds.includes(order) && (last === undefined || (Array.isArray(last) && last.length > 0)));
  const fixed = last ?? [];
  must(new Set(fixed).size === fixed.length && fixed.every((name) => names.includes(name)));
  return must(names.length - fixed.length > 1);
}

/** The lists whose order is drawn, the list of all items first: `{ item, kind, names, last, movable }`. */
export function orderedLists(survey) {
  const { document, items } = survey;
  const units = unitsOfItems(survey).map(({ name }) => name);
  const lists = entriesOf(document).map(({ own }, index) => listOf(own, index, namesOf(own, items[index])));
  return [listOf(document, null, units), ...lists].filter(Boolean);
}

function listOf({ keep_last: last = [], order: kind }, item, names) {
  const movable = [...names.keys()].filter((index) => !last.includes(names[index]));
  return kind && { item, kind, names, last, movable };
}

// The documents of all items, `{ own, block }`, those of a block in its place.
function entriesOf({ questions }) {
  return questions.flatMap(({ block, items, ...entry }) =>
    (items ?? [entry]).map((own) => ({ own, block: block ?? "" })),
  );
}

// The names of a matrix's rows, or of a question's options; none for a note.
function namesOf(own, { questions, rows }) {
  if (rows.length > 0) return own.rows.map(({ name }) => name);
  return questions.flatMap(({ domain, options }) => (domain.absent ? options.slice(0, -1) : options));
}

// What moves as a whole, `{ name, places }`: a block is one unit, and notes belong to the item after them.
function unitsOfItems({ document, items }) {
  const units = [];
  let notes = [];
  entriesOf(document).forEach(({ block }, index) => {
    const { name, questions } = items[index];
    notes.push(index);
    if (questions.length === 0) return;
    if (block && units.at(-1)?.block === block) units.at(-1).places.push(...notes);
    else units.push({ name: block || name, block, places: notes });
    notes = [];
  });
  return units;
}

/** What one person is shown in which order: `{ items, lists }`, indices of items, and of rows or options by item. */
export function arrange(survey, lists, drawn) {
  const shown = lists.map(({ last, movable, names }, index) => [
    ...drawn[index].map((place) => movable[place]), ...last.map((name) => names.indexOf(name)),
  ]);
  const first = lists[0]?.item === null ? afterConditions(survey, shown[0]) : [...survey.items.keys()];
  return { items: first, lists: new Map(lists.map(({ item }, index) => [item, shown[index]])) };
}

// Place the units in this order, each once all questions that its conditions name are placed.
function afterConditions(survey, order) {
  const { items } = survey;
  const units = unitsOfItems(survey);
  const waiting = order.map((place) => units[place].places);
  const placed = [];
  const known = new Set();
  const namesIn = (unit) => unit.flatMap((index) => items[index].questions.map(({ name }) => name));
  const hangsOn = (unit) => unit.flatMap((index) => [...items[index].visibleIf, ...items[index].anyOf]);
  const isReady = (unit) =>
    hangsOn(unit).every(({ question }) => known.has(question) || namesIn(unit).includes(question));
  while (waiting.length > 0) {
    const [unit] = waiting.splice(waiting.findIndex(isReady), 1);
    placed.push(...unit);
    for (const name of namesIn(unit)) known.add(name);
  }
  return [...placed, ...[...items.keys()].filter((index) => !placed.includes(index))];
}

/** The survey as one person sees it: items, rows and options in the order of `arrangement`. */
export function inOrder(survey, seen, { items: places, lists }) {
  const all = places.map((place) => withRows(survey.items[place], lists.get(place)));
  for (const [place, order] of lists) {
    const [question] = place === null ? [] : survey.items[place].questions;
    if (question && survey.items[place].rows.length === 0) question.order = order;
  }
  const names = seen.items.map(({ name }) => name);
  return Object.create(seen, { items: { value: all.filter(({ name }) => names.includes(name)) } });
}

function withRows(item, order) {
  if (order === undefined || item.rows.length === 0) return item;
  const [questions, rows] = [item.questions, item.rows].map((list) => order.map((index) => list[index]));
  return { ...item, questions, rows };
}
