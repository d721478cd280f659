import { loadCanonical } from "./canonical.js";
import { sha256 } from "./digest.js";
import { MECHANISMS } from "./mechanisms/index.js";
import {
  expect, expectUnique, readFields, readInteger, readItems, readLanguage, readMatch, readMoment, readTexts, readWord,
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

// How the options of each question type are read from its document.
const CHOICES_OF_TYPE = new Map([
  ["boolean", readNoChoices],
  ["select_one", readChoices],
  ["rating", readChoices],
]);

/**
 * The survey in its canonical bytes, named by their digest.
 *
 * @throws {SpecError} not a survey, or not in canonical form
 */
export async function loadSurvey(bytes) {
  return parseSurvey(loadCanonical(bytes), await sha256(bytes));
}

/** The survey that a canonical document describes; epsilon is derived from its integers, nowhere stated. */
export function parseSurvey(document, digest) {
  readFields(document, "", SURVEY_REQUIRED, SURVEY_OPTIONAL);
  readWord(document.format, "/format", [SURVEY_FORMAT]);
  readMatch(document.name, "/name", SURVEY_NAME);
  readInteger(document.revision, "/revision", 1, 10 ** 6);
  const language = readLanguage(document.default_language, "/default_language");
  for (const key of TEXTS) if (key in document) readTexts(document[key], `/${key}`, language);
  readWord(document.access, "/access", ["open", "token"]);
  readWindow(document);
  readFields(document.retention, "/retention", ["ids_days"]);
  readInteger(document.retention.ids_days, "/retention/ids_days", 0, 3650);
  const items = readItems(document.questions, "/questions", 1, 200);
  const questions = items.map((item, index) => parseQuestion(item, `/questions/${index}`, language));
  expectUnique(questions.map((question) => question.name), "/questions");
  expect(questions.filter((question) => question.cohort).length <= 1, "/questions", "only one may be the cohort");
  const survey = new Survey(document, questions, digest);
  readPrivacy(document.privacy, survey);
  return survey;
}

function readWindow(document) {
  const [opens, closes] = ["opens", "closes"].map((key) =>
    key in document ? readMoment(document[key], `/${key}`) : null,
  );
  expect(opens === null || closes === null || opens < closes, "/closes", "must be later than opens");
}

function readPrivacy(privacy, survey) {
  readFields(privacy, "/privacy", ["procedure", "release_batch"], ["max_epsilon_total"]);
  readWord(privacy.procedure, "/privacy/procedure", ["device"]);
  readInteger(privacy.release_batch, "/privacy/release_batch", 1, 10 ** 6);
  if (!("max_epsilon_total" in privacy)) return;
  const limit = Number(readMatch(privacy.max_epsilon_total, "/privacy/max_epsilon_total", EPSILON));
  expect(survey.epsilon <= limit, "/privacy/max_epsilon_total", "is less than the questions spend together");
}

function parseQuestion(value, pointer, language) {
  const optional = ["hint", "choices", "mechanism", "public", "cohort"];
  const fields = readFields(value, pointer, ["label", "name", "type"], optional);
  const type = readWord(fields.type, `${pointer}/type`, [...CHOICES_OF_TYPE.keys()]);
  const choices = CHOICES_OF_TYPE.get(type)(fields, pointer, language);
  const inputs = type === "boolean" ? BOOLEAN_OPTIONS.length : choices.length;
  return new Question({
    type,
    choices,
    name: readMatch(fields.name, `${pointer}/name`, NAME),
    label: readTexts(fields.label, `${pointer}/label`, language),
    hint: "hint" in fields ? readTexts(fields.hint, `${pointer}/hint`, language) : null,
    mechanism: readTreatment(fields, type, inputs, pointer),
    cohort: readCohort(fields, pointer),
  });
}

function readNoChoices(fields, pointer) {
  expect(!("choices" in fields), `${pointer}/choices`, "a boolean question has no choices");
  return [];
}

function readChoices(fields, pointer, language) {
  const choices = readItems(fields.choices, `${pointer}/choices`, 2, 1000);
  for (const [index, choice] of choices.entries()) {
    const place = `${pointer}/choices/${index}`;
    readFields(choice, place, ["label", "name"]);
    readMatch(choice.name, `${place}/name`, NAME);
    readTexts(choice.label, `${place}/label`, language);
  }
  expectUnique(choices.map((choice) => choice.name), `${pointer}/choices`);
  return choices;
}

// The mechanism, or null for a public question; exactly one of the two must be named.
function readTreatment(fields, type, inputs, pointer) {
  expect("public" in fields !== "mechanism" in fields, pointer, "must name a mechanism or say public: true");
  if ("public" in fields) {
    expect(fields.public === true, `${pointer}/public`, "must be true, or left out");
    return null;
  }
  return parseMechanism(fields.mechanism, type, inputs, `${pointer}/mechanism`);
}

function parseMechanism(value, type, inputs, pointer) {
  const mechanism = MECHANISMS.get(value?.name);
  expect(mechanism !== undefined, pointer, `must be a map whose name is one of: ${[...MECHANISMS.keys()].join(", ")}`);
  expect(mechanism.questionTypes.includes(type), pointer, "this mechanism does not serve this type of question");
  try {
    return mechanism.parse(value, inputs);
  } catch (error) {
    if (error instanceof RangeError) expect(false, pointer, error.message);
    throw error;
  }
}

function readCohort(fields, pointer) {
  if (!("cohort" in fields)) return false;
  expect(fields.cohort === true, `${pointer}/cohort`, "must be true, or left out");
  expect("public" in fields, `${pointer}/cohort`, "only a public question may be the cohort");
  return true;
}
