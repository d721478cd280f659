import { LINK, readFields, readItems, readMatch, readTexts } from "./checks.js";
import { RARE_READERS, TYPES } from "./known.js";
import { CONDITIONS, NAME, NOTE, ORDER, TREATMENT } from "./parse_item.js";
import { readAsked, readChoices, readHead, readQuestion } from "./parse_item.js";
import { must, parseFraction } from "./rational.js";
import { Question } from "./spec.js";

/** What reads an item that is not a usual question, by the item's type, or by its `anchor`: see `parse_item.js`. */
export const ITEM_READERS = new Map([
  ["note", readNote], ["acknowledge", readNote], ["matrix", readMatrix], [true, readAnchor],
]);

const PANEL = /^[a-z0-9_-]{1,32}$/;
const MAX_LINKS = 5;

/** Text, link, or links by the label of a panel, shown with the receipt; the same for all, or all of an arm. */
export function readAfter({ screen_out: other, ...value }, survey) {
  readFields(value, [], ["by_arm", "link", "links", "text"]);
  must(Object.keys(value).length > 0);
  if (other !== undefined) RARE_READERS.readScreenOut(other, survey);
  if ("text" in value) readTexts(value.text, survey.defaultLanguage);
  if ("link" in value) readMatch(value.link, LINK);
  if ("links" in value) readLinks(value.links);
}

function readLinks(links) {
  const labels = Object.keys(readFields(links, [], Object.keys(links ?? {})));
  must(labels.length > 0 && labels.length <= MAX_LINKS);
  for (const label of labels) must(readMatch(label, PANEL) && readMatch(links[label], LINK));
}

// A note, or something to acknowledge.
function readNote(value, language) {
  const texts = readHead(readFields(value, NOTE, ["hint", ...CONDITIONS]), language);
  return { type: value.type, ...texts, questions: [], rows: [] };
}

// Several questions with the same answers, a row each.
function readMatrix(value, language, neutral) {
  const { of, rows, type } = readFields(value, [...NOTE, "of", "rows"], ["hint", ...ORDER, ...CONDITIONS]);
  const texts = readHead(value, language);
  readChoices(rows, language, 1, 50);
  must(TYPES.get(of?.type)?.single);
  readFields(of, ["type", ...TYPES.get(of.type).keys], TREATMENT);
  const asked = readAsked(of, language, neutral);
  const questions = rows.map((row) => {
    const name = readMatch(`${texts.name}_${row.name}`, NAME);
    return new Question({ ...asked, name, label: joined(texts.label, row.label, language), hint: null, cohort: false });
  });
  return { type, ...texts, questions, rows: rows.map((row) => row.label) };
}

// A yes/no question with a known share of yes, which random answers among the options shown do not have.
function readAnchor({ anchor: _anchor, known_share: share, ...value }, language, neutral) {
  must(value.type === "boolean" && CONDITIONS.every((key) => !(key in value)));
  const item = readQuestion(value, language, neutral);
  const [{ absent }] = item.questions;
  const [part, whole] = parseFraction(share);
  const shown = absent === null ? 2 : 3;
  const away = Math.abs((absent === 1 ? 2 : 1) * whole - part * shown);
  must(part <= whole && 10 * away >= shown * whole);
  return item;
}

// A row's label for where it stands alone, in every language that either text has.
function joined(label, row, language) {
  const both = (tag) => `${label[tag] ?? label[language]} – ${row[tag] ?? row[language]}`;
  return Object.fromEntries(Object.keys({ ...label, ...row }).map((tag) => [tag, both(tag)]));
}

/**
 * What must hold for an item to be shown. A hidden question needs a home for its absence, and what is public must not
 * give away what is private.
 */
export function readConditions(value, questions, earlier) {
  const names = Object.keys(readFields(value, [], Object.keys(value ?? {})));
  must(names.length > 0 && questions.every((question) => question.absent !== null));
  return names.map((name) => {
    const asked = earlier.get(name);
    must(asked?.kind.single);
    must(asked.mechanism === null || questions.every((question) => question.mechanism !== null));
    return { question: name, mask: asked.kind.truth === "options", ...readWanted(value[name], asked.domain) };
  });
}

function readWanted(wanted, { absent, grid, options }) {
  if (grid !== null) {
    readFields(wanted, ["max", "min"]);
    const [low, high] = [wanted.min, wanted.max].map((text) => grid.exactIndex(text));
    must(low <= high);
    return { options: [], span: [low, high] };
  }
  const own = absent ? options.slice(0, -1) : options;
  const selected = readItems(wanted, 1, own.length).map((name) => own.indexOf(name));
  // In the order of the options, so that one set has one spelling.
  must(selected.every((option, index) => option > (selected[index - 1] ?? -1)));
  return { options: selected, span: null };
}
