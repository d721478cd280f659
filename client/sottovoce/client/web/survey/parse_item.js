import { ABSENT, Domain } from "./answers.js";
import { readFields, readItems, readMatch, readNames, readTexts } from "./checks.js";
import { ITEM_MARKS } from "./keys/item.js";
import { MECHANISMS, RARE_READERS, TYPES } from "./known.js";
import { must } from "./rational.js";
import { Question } from "./spec.js";

/** A name of an item or an option. */
export const NAME = /^[a-z0-9][a-z0-9_]{0,63}$/;

/** The keys of what is done with an answer. */
export const TREATMENT = ["mechanism", "public", "when_absent", "absent_category"];

/** The keys that say when an item is shown, and to whom. */
export const CONDITIONS = ["visible_if", "any_of", "arm"];

/** The keys that say that an order is drawn. */
export const ORDER = ["order", "keep_last"];

/** The keys of every item. */
export const NOTE = ["label", "name", "type"];

const MAX_PUBLIC = 10_000_001;

/**
 * One item as the survey shows it: `{ type, name, label, hint, questions, rows, visibleIf, anyOf, arms }`. A note has
 * no questions; `rows` are the labels of a matrix's rows; `arms` is undefined for all. A block is a list of items.
 *
 * @param value a canonical document
 * @param earlier a Map from names to the questions before it
 * @param language the survey's default language
 * @param neutral whether reports of yes and no are called A and B
 */
export function parseItem(value, earlier, language, neutral) {
  const read = readerOf({ ...value });
  must(read);
  const item = read(value, language, neutral, earlier);
  if (Array.isArray(item)) return item;
  const conditions = (key) => (key in value ? RARE_READERS.readConditions(value[key], item.questions, earlier) : []);
  return { ...item, visibleIf: conditions("visible_if"), anyOf: conditions("any_of"), arms: value.arm };
}

function readerOf({ anchor, procedure, type }) {
  const { ITEM_READERS, readBlock } = RARE_READERS;
  return ITEM_READERS?.get(anchor ?? procedure ?? type) ?? (TYPES.has(type) ? readQuestion : readBlock);
}

/** An item that is one question. */
export function readQuestion(value, language, neutral) {
  const { keys } = TYPES.get(value.type);
  const optional = ["hint", ...ITEM_MARKS, ...ORDER, ...CONDITIONS, ...TREATMENT];
  const fields = readFields(value, [...NOTE, ...keys], optional);
  const texts = readHead(fields, language);
  for (const key of ITEM_MARKS) must(!(key in fields) || (fields[key] === true && "public" in fields));
  const cohort = "cohort" in fields;
  must(!cohort || TYPES.get(fields.type).takesCategory);
  const question = new Question({ ...readAsked(fields, language, neutral), ...texts, cohort });
  return { type: value.type, ...texts, questions: [question], rows: [] };
}

/** What every item has: `{ name, label, hint }`. */
export function readHead(fields, language) {
  return {
    name: readMatch(fields.name, NAME),
    label: readTexts(fields.label, language),
    hint: "hint" in fields ? readTexts(fields.hint, language) : null,
  };
}

/** What a question asks and how it is treated: what the rows of a matrix share. */
export function readAsked(fields, language, neutral) {
  const kind = TYPES.get(fields.type);
  const choices = fields[kind.listKey] ?? [];
  if (kind.listKey) readChoices(choices, language, 2, kind.mostChoices);
  const domain = readDomain(kind, fields, choices);
  return {
    type: fields.type,
    kind,
    choices,
    domain,
    mechanism: readTreatment(kind, fields, domain),
    absent: readHome(kind, fields, domain),
    neutral: neutral && kind.truth === "yes_no" && !("public" in fields),
  };
}

// The true value that stands for no answer; null where there must be one.
function readHome(kind, fields, domain) {
  if ("when_absent" in fields) return RARE_READERS.readAbsent(kind, fields, domain);
  return domain.absent ? domain.steps : null;
}

/** Names and labels, no name twice. */
export function readChoices(items, language, least, most) {
  for (const item of readItems(items, least, most)) {
    readFields(item, ["label", "name"]);
    readMatch(item.name, NAME);
    readTexts(item.label, language);
  }
  readNames(items);
}

function readDomain(kind, fields, choices) {
  const domain = kind.domain(fields, choices.map((choice) => choice.name));
  if (!("absent_category" in fields)) return domain;
  must(fields.absent_category === true && kind.takesCategory && !domain.options.includes(ABSENT));
  return new Domain([...domain.options, ABSENT], null, 1, true);
}

// The mechanism, or null for a public question; exactly one of the two must be named.
function readTreatment(kind, fields, domain) {
  must("public" in fields !== "mechanism" in fields);
  if ("mechanism" in fields) return parseMechanism(fields.mechanism, domain.absent ? "option" : kind.truth, domain);
  must(fields.public === true && kind.mayBePublic && domain.size <= MAX_PUBLIC);
  return null;
}

function parseMechanism(value, truth, domain) {
  const mechanism = MECHANISMS.get(value?.name);
  must(mechanism?.serves === truth);
  return mechanism.parse(value, domain);
}
