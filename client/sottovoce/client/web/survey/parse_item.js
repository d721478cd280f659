import { ABSENT, Domain, MAX_MASK_OPTIONS } from "./answers.js";
import { ITEM_TYPES, MECHANISMS, provided } from "../registry.js";
import { must } from "./rational.js";
import { readFields, readInteger, readItems, readMatch, readNames, readTexts } from "./checks.js";
import { BOOLEAN_OPTIONS, Question } from "./spec.js";

/** A name of an item or an option. */
export const NAME = /^[a-z0-9][a-z0-9_]{0,63}$/;

/** The keys of a grid. */
export const NUMBER = ["min", "max", "step"];

/** The keys that describe each question type's true values. */
export const KEYS = new Map([
  ["boolean", []],
  ["select_one", ["choices"]],
  ["rating", ["choices"]],
  ["select_multiple", ["choices", "max_choices"]],
  ["integer", NUMBER],
  ["decimal", NUMBER],
  ["vector", ["coordinates", ...NUMBER]],
]);

// The kind of each question type's true values.
const TRUTH_OF = new Map([
  ["boolean", "yes_no"],
  ["select_one", "option"],
  ["rating", "option"],
  ["select_multiple", "options"],
  ["integer", "number"],
  ["decimal", "number"],
  ["vector", "numbers"],
]);

/** The keys of what is done with an answer. */
export const TREATMENT = ["mechanism", "public", "when_absent", "absent_category"];

/** The keys of every item. */
export const NOTE = ["label", "name", "type"];

/** The types of a question whose answer is one of its options; other types come later. */
export const ONE_OF = ["boolean", "select_one", "rating"];

const MAX_PUBLIC = 10_001;

/**
 * One item as the survey shows it: `{ type, name, label, hint, questions, rows, visibleIf }`. A note has no questions;
 * `rows` are the labels of a matrix's rows.
 *
 * @param value a canonical document
 * @param earlier a Map from names to the questions before it
 * @param language the survey's default language
 * @param neutral whether reports of yes and no are called A and B
 */
export function parseItem(value, earlier, language, neutral) {
  const read = ITEM_TYPES.get(value?.type);
  must(read);
  const item = read(value, language, neutral);
  if ("visible_if" in value) item.visibleIf = provided("readConditions")(value.visible_if, item.questions, earlier);
  return item;
}

/** An item that is one question. */
export function readQuestion(value, language, neutral) {
  const fields = readFields(value, [...NOTE, ...KEYS.get(value.type)], ["hint", "cohort", "visible_if", ...TREATMENT]);
  const texts = readHead(fields, language);
  const question = new Question({ ...readAsked(fields, language, neutral), ...texts, cohort: readCohort(fields) });
  return { type: value.type, ...texts, questions: [question], rows: [], visibleIf: [] };
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
  const { type, choices, coordinates = choices ?? [] } = fields;
  if (KEYS.get(type).some((key) => key === "choices" || key === "coordinates")) {
    readChoices(coordinates, language, 2, type === "select_multiple" ? MAX_MASK_OPTIONS : 1000);
  }
  const domain = readDomain(fields, coordinates);
  return {
    type,
    choices: coordinates,
    domain,
    mechanism: readTreatment(fields, domain),
    absent: "when_absent" in fields ? provided("readAbsent")(fields, domain) : domain.absent ? domain.steps : null,
    neutral: neutral && type === "boolean" && !("public" in fields),
  };
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

function readDomain(fields, choices) {
  const names = fields.type === "boolean" ? BOOLEAN_OPTIONS : choices.map((choice) => choice.name);
  if ("absent_category" in fields) {
    must(fields.absent_category === true && ONE_OF.includes(fields.type) && !names.includes(ABSENT));
    return new Domain([...names, ABSENT], null, 1, true);
  }
  if ("min" in fields) return new Domain(names, provided("readGrid")(fields));
  return new Domain(names, null, readInteger(fields.max_choices ?? 1, 1, names.length));
}

// The mechanism, or null for a public question; exactly one of the two must be named.
function readTreatment(fields, domain) {
  must("public" in fields !== "mechanism" in fields);
  const truth = domain.absent ? "option" : TRUTH_OF.get(fields.type);
  if ("mechanism" in fields) return parseMechanism(fields.mechanism, truth, domain);
  must(fields.public === true && !("max_choices" in fields || "coordinates" in fields) && domain.size <= MAX_PUBLIC);
  return null;
}

function parseMechanism(value, kind, domain) {
  const mechanism = MECHANISMS.get(value?.name);
  must(mechanism?.serves === kind);
  return mechanism.parse(value, domain);
}

function readCohort(fields) {
  if (!("cohort" in fields)) return false;
  must(fields.cohort === true && "public" in fields && !("min" in fields));
  return true;
}
