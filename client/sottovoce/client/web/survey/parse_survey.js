import { loadCanonical } from "./canonical.js";
import { sha256 } from "./digest.js";
import { ONE_OF, parseItem } from "./parse_item.js";
import { arrived, load } from "../bundles/loading.js";
import { MECHANISMS } from "./mechanisms/index.js";
import { must } from "./rational.js";
import { locate, readFields, readInteger, readItems, readLanguage, readMatch, readMoment, readNames, readTexts } from "./checks.js";
import { SURVEY_FORMAT, Survey } from "./spec.js";

const SURVEY_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const EPSILON = /^(0|[1-9][0-9]?)(\.[0-9]{1,6})?$/;
const TEXTS = ["title", "description", "consent"];

// Canonical form has every default written out, so what an author may leave out is required here.
const SURVEY_REQUIRED = [
  "access", "default_language", "format", "name", "privacy", "questions", "retention", "revision", "title",
];
const SURVEY_OPTIONAL = ["ask", "closes", "consent", "description", "opens", "report_labels", "waves"];

/**
 * The survey in its canonical bytes, named by their digest.
 *
 * @throws {SpecError} not a survey, or not in canonical form
 */
export async function loadSurvey(bytes) {
  const document = loadCanonical(bytes);
  const isByHand = document.privacy?.procedure === "own_coin";
  const items = [document.questions].flat();
  if (document.ask !== undefined || document.waves !== undefined || items.some(hasMemo)) await load("repeated");
  if (isByHand || items.some(isRare)) await load("rarer");
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
    must(!("report_labels" in document) || document.report_labels === "neutral");
    const items = parseItems(document, language);
    const survey = new Survey(document, items, digest);
    if ("ask" in document || "waves" in document || survey.memoized.length > 0) arrived().repeated.readRepeated(document, survey);
    readPrivacy(document.privacy, survey);
    return survey;
  });
}

// Whether an item needs the page's part "repeated".
function hasMemo(item) {
  return (item?.of ?? item)?.mechanism?.name === "memoized_rr";
}

// Whether an item may need the page's part "rarer".
function isRare(item) {
  if (!ONE_OF.includes(item?.type) || "visible_if" in item || "when_absent" in item) return true;
  return "mechanism" in item && !MECHANISMS.has(item.mechanism?.name);
}

function parseItems(document, language) {
  const earlier = new Map();
  const items = readItems(document.questions, 1, 200).map((value, index) =>
    locate(`/questions/${index}`, () => {
      const item = parseItem(value, earlier, language, "report_labels" in document);
      for (const question of item.questions) earlier.set(question.name, question);
      return item;
    }),
  );
  const questions = items.flatMap((item) => item.questions);
  readNames([...questions, ...items.filter((item) => item.questions[0]?.name !== item.name)]);
  readItems(questions, 1, 200);
  must(questions.filter((question) => question.cohort).length <= 1);
  return items;
}

function readPrivacy(privacy, survey) {
  readFields(privacy, ["procedure", "release_batch"], ["max_epsilon_total"]);
  must(["device", "own_coin"].includes(privacy.procedure));
  if (survey.ownCoin) survey.items.forEach((item, index) => locate(`/questions/${index}`, () => checkOwnCoin(item)));
  readInteger(privacy.release_batch, 1, 10 ** 6);
  if ("max_epsilon_total" in privacy) must(survey.epsilon <= Number(readMatch(privacy.max_epsilon_total, EPSILON)));
}

// What people do by themselves with a coin or a die: yes/no channels of such odds, and nothing that the device adds.
function checkOwnCoin({ questions, visibleIf }) {
  const { procedure } = arrived().rarer;
  must(visibleIf.length === 0);
  for (const { absent, mechanism } of questions) must(absent === null && (mechanism === null || procedure(mechanism)));
}
