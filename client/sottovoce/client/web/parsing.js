import { Domain, Grid, MAX_MASK_OPTIONS } from "./answers.js";
import { loadCanonical } from "./canonical.js";
import { sha256 } from "./digest.js";
import { load } from "./loading.js";
import { MECHANISMS } from "./mechanisms/index.js";
import { dumpDecimal, must, parseDecimal } from "./rational.js";
import {
  locate, readFields, readInteger, readItems, readLanguage, readMatch, readMoment, readNames, readTexts,
} from "./reading.js";
import { BOOLEAN_OPTIONS, Question, SURVEY_FORMAT, Survey } from "./spec.js";

const SURVEY_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const NAME = /^[a-z0-9][a-z0-9_]{0,63}$/;
const EPSILON = /^(0|[1-9][0-9]?)(\.[0-9]{1,6})?$/;
const TEXTS = ["title", "description", "consent"];

// Canonical form has every default written out, so what an author may leave out is required here.
const SURVEY_REQUIRED = [
  "access", "default_language", "format", "name", "privacy", "questions", "retention", "revision", "title",
];
const SURVEY_OPTIONAL = ["closes", "consent", "description", "opens"];

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
const MAX_PUBLIC = 10_001;
const WHOLE = 1_000_000_000n;

/**
 * The survey in its canonical bytes, named by their digest.
 *
 * @throws {SpecError} not a survey, or not in canonical form
 */
export async function loadSurvey(bytes) {
  const document = loadCanonical(bytes);
  const isRare = (question) => question?.mechanism && !MECHANISMS.has(question.mechanism.name);
  if ([document.questions].flat().some(isRare)) await load();
  return parseSurvey(document, await sha256(bytes));
}

/** The survey that a canonical document describes; epsilon is derived from its integers, nowhere stated. */
export function parseSurvey(document, digest) {
  return locate("/", () => {
    readFields(document, SURVEY_REQUIRED, SURVEY_OPTIONAL);
    readMatch(document.name, SURVEY_NAME);
    readInteger(document.revision, 1, 10 ** 6);
    const language = readLanguage(document.default_language);
    for (const key of TEXTS) if (key in document) readTexts(document[key], language);
    must(document.format === SURVEY_FORMAT && ["open", "token"].includes(document.access));
    const opens = "opens" in document ? readMoment(document.opens) : -Infinity;
    must(!("closes" in document) || opens < readMoment(document.closes));
    readFields(document.retention, ["ids_days"]);
    readInteger(document.retention.ids_days, 0, 3650);
    const items = readItems(document.questions, 1, 200);
    const questions = items.map((item, index) => locate(`/questions/${index}`, () => parseQuestion(item, language)));
    readNames(questions);
    must(questions.filter((question) => question.cohort).length <= 1);
    const survey = new Survey(document, questions, digest);
    readPrivacy(document.privacy, survey);
    return survey;
  });
}

function readPrivacy(privacy, survey) {
  readFields(privacy, ["procedure", "release_batch"], ["max_epsilon_total"]);
  must(privacy.procedure === "device");
  readInteger(privacy.release_batch, 1, 10 ** 6);
  if ("max_epsilon_total" in privacy) must(survey.epsilon <= Number(readMatch(privacy.max_epsilon_total, EPSILON)));
}

function parseQuestion(value, language) {
  const type = value?.type;
  must(KEYS.has(type));
  const optional = ["hint", "mechanism", "public", "cohort"];
  const fields = readFields(value, ["label", "name", "type", ...KEYS.get(type)], optional);
  const choices = readChoices(fields, language);
  const domain = readDomain(fields, choices);
  return new Question({
    type,
    choices,
    domain,
    name: readMatch(fields.name, NAME),
    label: readTexts(fields.label, language),
    hint: "hint" in fields ? readTexts(fields.hint, language) : null,
    mechanism: readTreatment(fields, domain),
    cohort: readCohort(fields),
  });
}

// The options, or the coordinates of a vector.
function readChoices({ type, choices, coordinates = choices }, language) {
  if (coordinates === undefined) return [];
  const items = readItems(coordinates, 2, type === "select_multiple" ? MAX_MASK_OPTIONS : 1000);
  for (const item of items) {
    readFields(item, ["label", "name"]);
    readMatch(item.name, NAME);
    readTexts(item.label, language);
  }
  return items;
}

function readDomain(fields, choices) {
  if (fields.type === "boolean") return new Domain(BOOLEAN_OPTIONS);
  const names = readNames(choices);
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

// The mechanism, or null for a public question; exactly one of the two must be named.
function readTreatment(fields, domain) {
  must("public" in fields !== "mechanism" in fields);
  if ("mechanism" in fields) return parseMechanism(fields.mechanism, fields.type, domain);
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
