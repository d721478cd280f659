import { loadCanonical, sha256 } from "./canonical.js";
import { parseItem } from "./parse_item.js";
import { bringReaders } from "./bring.js";
import { SURVEY_MARKS, SURVEY_OPTIONAL, SURVEY_REQUIRED, SURVEY_TEXTS } from "./keys/survey.js";
import { RARE_READERS } from "./known.js";
import { must } from "./rational.js";
import {
  LINK, locate, readDay, readFields, readInteger, readItems, readLanguage, readMatch, readMoment, readNames, readTexts,
} from "./checks.js";
import { SURVEY_FORMAT, Survey } from "./spec.js";

const SURVEY_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const REPLACED = /^[0-9a-f]{64}$/;
const EPSILON = /^(0|[1-9][0-9]?)(\.[0-9]{1,6})?$/;
const ACCESS = ["open", "token"];
const MAIL = /^[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63}){1,8}$/;

/**
 * The survey in its canonical bytes, named by their digest.
 *
 * @throws {SpecError} not a survey, or not in canonical form
 */
export async function loadSurvey(bytes) {
  const document = loadCanonical(bytes);
  await bringReaders(document);
  return parseSurvey(document, await sha256(bytes));
}

/** The survey that a canonical document describes; epsilon is derived from its integers, nowhere stated. */
export function parseSurvey(document, digest) {
  return locate("/", () => {
    readFields(document, SURVEY_REQUIRED, SURVEY_OPTIONAL);
    readMatch(document.name, SURVEY_NAME);
    readInteger(document.revision, 1, 10 ** 6);
    const language = readLanguage(document.default_language);
    for (const key of SURVEY_TEXTS) if (key in document) readTexts(document[key], language);
    must(document.format === SURVEY_FORMAT);
    must(typeof document.access === "object" || ACCESS.includes(document.access));
    const opens = "opens" in document ? readMoment(document.opens) : -Infinity;
    must(!("closes" in document) || opens < readMoment(document.closes));
    readRetention(document.retention, [document.waves].flat().at(-1)?.closes ?? document.closes);
    if ("researcher" in document) readResearcher(document.researcher, language);
    readMarks(document);
    const items = parseItems(document, language);
    const survey = new Survey(document, items, digest);
    readRare(document, survey);
    readPrivacy(document.privacy, survey);
    return survey;
  });
}

// What stands in a survey only if it has this one value, and what a correction has.
function readMarks(document) {
  for (const key of SURVEY_MARKS) must(!(key in document) || document[key] === true);
  must(!("check" in document) || document.check === false);
  const { quick_exit: to = true } = document;
  if (to !== true) must(!/^(https:)\/\/[^/]*:/.test(readMatch(to, LINK)));
  must(!("fresh_samples" in document) || "waves" in document);
  must(!("report_labels" in document) || document.report_labels === "neutral");
  if ("replaces" in document) must(readMatch(document.replaces, REPLACED) && document.revision > 1);
}

function parseItems(document, language) {
  const earlier = new Map();
  const items = readItems(document.questions, 1, 200).flatMap((value, index) =>
    locate(`/questions/${index}`, () => {
      const item = parseItem(value, earlier, language, "report_labels" in document);
      for (const question of item.questions ?? []) earlier.set(question.name, question);
      return item;
    }),
  );
  const questions = items.flatMap((item) => item.questions);
  readNames([...questions, ...items.filter((item) => item.questions[0]?.name !== item.name)]);
  readItems(questions, 1, 200);
  must(questions.filter((question) => question.cohort).length <= 1);
  return items;
}

// The day on which everything is deleted begins after the survey has closed.
function readRetention(retention, closes) {
  readFields(retention, ["ids_days"], ["delete_on"]);
  readInteger(retention.ids_days, 0, 3650);
  if (!("delete_on" in retention)) return;
  const day = readDay(retention.delete_on);
  must(closes === undefined || day > readMoment(closes));
}

// Who asks; their address is an e-mail address or a link.
function readResearcher(researcher, language) {
  const { contact, ...texts } = readFields(researcher, ["name"], ["contact", "ethics", "institution"]);
  for (const text of Object.values(texts)) readTexts(text, language);
  if ("contact" in researcher) must(readMatch(contact, MAIL.test(contact) ? MAIL : LINK).length <= 200);
}

// What few surveys say of themselves.
function readRare(document, survey) {
  if ("ask" in document || "waves" in document || survey.memoized.length > 0) RARE_READERS.readWaves(document, survey);
  RARE_READERS.checkBlocks?.(survey);
  RARE_READERS.checkInnocuous?.(survey);
  RARE_READERS.readOrders?.(document, survey);
  RARE_READERS.readSample?.(document, survey);
  if (survey.isBlind) RARE_READERS.readBlind(document, survey);
  if ("after" in document) RARE_READERS.readAfter(document.after, survey);
}

function readPrivacy(privacy, survey) {
  readFields(privacy, ["procedure", "release_batch"], ["max_epsilon_total", "send_at_seconds", "send_within_hours"]);
  must(["device", "own_coin"].includes(privacy.procedure));
  if (survey.ownCoin) RARE_READERS.checkOwnCoin(survey);
  readInteger(privacy.release_batch, 1, 10 ** 6);
  if (survey.isDelayed) RARE_READERS.readWaiting(privacy);
  if ("max_epsilon_total" in privacy) must(survey.epsilon <= Number(readMatch(privacy.max_epsilon_total, EPSILON)));
}
