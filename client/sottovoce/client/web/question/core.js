import { locate } from "../survey/checks.js";
import { dumpCanonical, sha256 } from "../survey/canonical.js";
import { SpecError } from "../survey/errors.js";
import { DEFAULT_ALLOWANCE } from "../survey/allowance.js";
import { ITEM_MARKS } from "../survey/keys/item.js";
import { MECHANISMS, TYPES } from "../survey/known.js";
import { CONDITIONS, parseItem } from "../survey/parse_item.js";
import { dumpDecimal, must } from "../survey/rational.js";
import { Draws } from "../device/draws.js";
import { RANDOMIZERS } from "../device/randomize.js";

/** Version of the program, which a record names. */
export const CLIENT = "0.4.0";

/** The keys that tie a question to others of its survey. */
export const NOT_ALONE = [...CONDITIONS, ...ITEM_MARKS, "anchor"];
const MOST_LETTERS = 4000;

/**
 * The question that a canonical document describes, as the survey's own code reads it: see `Question`.
 *
 * @throws {SpecError} not a question, or none that can be asked alone; `values.pointer` says where
 */
export function parseQuestion(document) {
  return locate("/", () => {
    checkKeys(document);
    const [question] = parseItem(document, new Map(), languageOf(document), false).questions;
    if (question === undefined || question.name !== document.name) throw new SpecError("/type");
    const { epsilon, mechanism } = question;
    const isDear = epsilon > DEFAULT_ALLOWANCE.question;
    if (mechanism === null || mechanism.waves > 1 || isDear) throw new SpecError("/mechanism");
    if (channelOf(document, question).length > MOST_LETTERS) throw new SpecError("/mechanism");
    return question;
  });
}

function checkKeys(document) {
  must(document !== null && typeof document === "object");
  const wrong = NOT_ALONE.filter((key) => key in document);
  if (!TYPES.has(document.type)) wrong.push("type");
  if (!MECHANISMS.has(document.mechanism?.name)) wrong.push("mechanism");
  if (wrong.length > 0) throw new SpecError(`/${wrong[0]}`);
}

/** The language that a question falls back on: English, else the first of its label's tags. */
export function languageOf({ label }) {
  const tags = Object.keys(label ?? {}).sort();
  return tags.includes("en") ? "en" : (tags[0] ?? "en");
}

/** What a question is: `{ name, type, digest, epsilon, channel, odds }`; `odds` as the mechanism explains itself. */
export async function describeQuestion(document) {
  const question = parseQuestion(document);
  return {
    name: question.name,
    type: question.type,
    digest: await digestOf(document),
    epsilon: shownEpsilon(question.epsilon),
    channel: channelOf(document, question),
    odds: question.mechanism.explain(),
  };
}

/**
 * The record of one randomized answer; nothing is stored, so that a second call draws again.
 *
 * @param document the canonical question
 * @param answer in the form of the question's type; null for none, where the question has a home for that
 * @param draws from where randomness comes
 * @throws {SpecError|AnswerError} the question is none, or the answer none of its answers; neither repeats it
 */
export async function randomizeQuestion(document, answer, { draws = new Draws() } = {}) {
  const question = parseQuestion(document);
  const truth = question.encode(answer);
  question.check(truth);
  return recordOf(document, RANDOMIZERS.get(question.mechanism.name)(question.mechanism, truth, draws), false);
}

/** What reads documents that are no single question, once it has come. */
export const ASKED_READERS = {};

/**
 * What a page asks: `{ name, document, language, questions, epsilon, channel }`, `draw(truths, draws)`, which gives the
 * report, its category of each question (`codes`), and its words in a column (`value`).
 *
 * @throws {SpecError} it cannot be asked without a survey
 */
export function readAskedAlone(document) {
  if (document?.block && ASKED_READERS.block) return locate("/", () => ASKED_READERS.block(document));
  const question = parseQuestion(document);
  const { epsilon, mechanism, name } = question;
  return {
    document, epsilon, name,
    language: languageOf(document),
    questions: [question],
    channel: channelOf(document, question),
    draw: ([truth], draws) => {
      question.check(truth);
      return RANDOMIZERS.get(mechanism.name)(mechanism, truth, draws);
    },
    codes: (report) => [report],
    value: (report) => valueOf(question, report),
  };
}

/** The digest by which a document is known. */
export function digestOf(document) {
  return sha256(dumpCanonical(document));
}

/** The record of a report that was drawn; `once` says that the device keeps it. */
export async function recordOf(document, report, once) {
  const asked = readAskedAlone(document);
  const [digest, epsilon] = [await digestOf(document), shownEpsilon(asked.epsilon)];
  const drawn = { report, value: asked.value(report), mechanism: document.mechanism, channel: asked.channel };
  return { format: "sottovoce-record/1", question: asked.name, digest, ...drawn, epsilon, once, client: CLIENT };
}

function valueOf({ domain, mechanism, options }, report) {
  if (["yes_no", "option"].includes(mechanism.reportKind)) return options[report];
  return mechanism.reportKind === "number" ? domain.grid.text(report) : String(report);
}

function channelOf({ mechanism: { name, ...fields } }, { domain, mechanism }) {
  const { grid, maxChoices, options } = domain;
  const { serves } = mechanism.constructor;
  const words = Object.keys(fields).sort().map((key) => `${key}=${listed(fields[key])}`);
  const bounds = grid ? [`min=${grid.text(0)}`, `max=${grid.text(grid.steps)}`, `step=${dumpDecimal(grid.step)}`] : [];
  const most = serves === "options" ? [`most=${maxChoices}`] : [];
  const levels = serves !== "yes_no" && options?.length ? [`levels=${options.join(",")}`] : [];
  return [name, ...words, ...bounds, ...most, ...levels].join(" ");
}

function listed(value) {
  return Array.isArray(value) ? value.map(listed).join(Array.isArray(value[0]) ? ";" : ",") : String(value);
}

function shownEpsilon(epsilon) {
  return (Math.ceil(epsilon * 10_000) / 10_000).toFixed(4);
}
