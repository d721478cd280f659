import { ABSENT, Domain, Grid, MAX_MASK_OPTIONS, encodeAnswer } from "./answers.js";
import { MECHANISMS } from "./mechanisms/index.js";
import { dumpDecimal, must, parseDecimal } from "./rational.js";
import { readFields, readInteger, readItems, readMatch, readNames, readTexts } from "./reading.js";
import { BOOLEAN_OPTIONS, Question } from "./spec.js";

const NAME = /^[a-z0-9][a-z0-9_]{0,63}$/;

// The keys that describe each question type's true values.
const NUMBER = ["min", "max", "step"];
const KEYS = new Map([
  ["boolean", []],
  ["select_one", ["choices"]],
  ["rating", ["choices"]],
  ["select_multiple", ["choices", "max_choices"]],
  ["integer", NUMBER],
  ["decimal", NUMBER],
  ["vector", ["coordinates", ...NUMBER]],
]);
const TREATMENT = ["mechanism", "public", "when_absent", "absent_category"];
const NOTE = ["label", "name", "type"];
const ONE_OF = ["boolean", "select_one", "rating"];
const MAX_PUBLIC = 10_001;
const WHOLE = 1_000_000_000n;

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
  const item = readItem(value, language, neutral);
  if ("visible_if" in value) item.visibleIf = readConditions(value.visible_if, item.questions, earlier);
  return item;
}

function readItem(value, language, neutral) {
  const type = value?.type;
  if (type === "matrix") return readMatrix(value, language, neutral);
  if (KEYS.has(type)) {
    const fields = readFields(value, [...NOTE, ...KEYS.get(type)], ["hint", "cohort", "visible_if", ...TREATMENT]);
    const texts = readHead(fields, language);
    const question = new Question({ ...readAsked(fields, language, neutral), ...texts, cohort: readCohort(fields) });
    return { type, ...texts, questions: [question], rows: [], visibleIf: [] };
  }
  must(type === "note" || type === "acknowledge");
  return { type, ...readHead(readFields(value, NOTE, ["hint", "visible_if"]), language), questions: [], rows: [], visibleIf: [] };
}

function readMatrix(value, language, neutral) {
  const { of, rows, type } = readFields(value, [...NOTE, "of", "rows"], ["hint", "visible_if"]);
  const texts = readHead(value, language);
  readChoices(rows, language, 1, 50);
  must(KEYS.has(of?.type) && of.type !== "vector");
  readFields(of, ["type", ...KEYS.get(of.type)], TREATMENT);
  const asked = readAsked(of, language, neutral);
  const questions = rows.map((row) => {
    const name = readMatch(`${texts.name}_${row.name}`, NAME);
    return new Question({ ...asked, name, label: joined(texts.label, row.label, language), hint: null, cohort: false });
  });
  return { type, ...texts, questions, rows: rows.map((row) => row.label), visibleIf: [] };
}

// A row's label for where it stands alone, in every language that either text has.
function joined(label, row, language) {
  const both = (tag) => `${label[tag] ?? label[language]} – ${row[tag] ?? row[language]}`;
  return Object.fromEntries(Object.keys({ ...label, ...row }).map((tag) => [tag, both(tag)]));
}

function readHead(fields, language) {
  return {
    name: readMatch(fields.name, NAME),
    label: readTexts(fields.label, language),
    hint: "hint" in fields ? readTexts(fields.hint, language) : null,
  };
}

// What the rows of a matrix share.
function readAsked(fields, language, neutral) {
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
    absent: readAbsent(fields, domain),
    neutral: neutral && type === "boolean" && !("public" in fields),
  };
}

// Names and labels, no name twice.
function readChoices(items, language, least, most) {
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
  if ("min" in fields) return new Domain(names, readGrid(fields));
  return new Domain(names, null, readInteger(fields.max_choices ?? 1, 1, names.length));
}

function readGrid(fields) {
  const numbers = NUMBER.map((key) => {
    const number = parseDecimal(fields[key]);
    must(dumpDecimal(number) === fields[key] && (fields.type !== "integer" || number % WHOLE === 0n));
    return number;
  });
  return new Grid(...numbers);
}

// The true value that stands for no answer; null where there must be one.
function readAbsent(fields, domain) {
  if (!("when_absent" in fields)) return domain.absent ? domain.steps : null;
  const fixed = fields.when_absent;
  must(!domain.absent && !(Array.isArray(fixed) && fixed.length));
  const value = encodeAnswer(fields.type, domain, fixed);
  if (domain.grid !== null) [fixed].flatMap((one) => (one instanceof Object ? Object.values(one) : one)).forEach((one) => readStep(one, domain.grid));
  return value;
}

// The step of a number in its one spelling.
function readStep(text, grid) {
  const step = grid.index(text);
  must(grid.number(step) === text);
  return step;
}

// The mechanism, or null for a public question; exactly one of the two must be named.
function readTreatment(fields, domain) {
  must("public" in fields !== "mechanism" in fields);
  if ("mechanism" in fields) return parseMechanism(fields.mechanism, domain.absent ? "select_one" : fields.type, domain);
  must(fields.public === true && !("max_choices" in fields || "coordinates" in fields) && domain.size <= MAX_PUBLIC);
  return null;
}

function parseMechanism(value, type, domain) {
  const mechanism = MECHANISMS.get(value?.name);
  must(mechanism?.questionTypes.includes(type));
  return mechanism.parse(value, domain);
}

function readCohort(fields) {
  if (!("cohort" in fields)) return false;
  must(fields.cohort === true && "public" in fields && !("min" in fields));
  return true;
}

// What must hold for an item to be shown. A hidden question needs a home for its absence, and what is public must not
// give away what is private.
function readConditions(value, questions, earlier) {
  const names = Object.keys(readFields(value, [], Object.keys(value ?? {})));
  must(names.length > 0 && questions.every((question) => question.absent !== null));
  return names.map((name) => {
    const asked = earlier.get(name);
    must(asked && asked.type !== "vector");
    must(asked.mechanism === null || questions.every((question) => question.mechanism !== null));
    return { question: name, mask: asked.type === "select_multiple", ...readWanted(value[name], asked.domain) };
  });
}

function readWanted(wanted, { absent, grid, options }) {
  if (grid !== null) {
    readFields(wanted, ["max", "min"]);
    const [low, high] = [wanted.min, wanted.max].map((text) => readStep(text, grid));
    must(low <= high);
    return { options: [], span: [low, high] };
  }
  const own = absent ? options.slice(0, -1) : options;
  const chosen = readItems(wanted, 1, own.length).map((name) => own.indexOf(name));
  // In the order of the options, so that one set has one spelling.
  must(chosen.every((option, index) => option > (chosen[index - 1] ?? -1)));
  return { options: chosen, span: null };
}
