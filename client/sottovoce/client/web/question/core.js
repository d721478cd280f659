import { locate } from "../survey/checks.js";
import { dumpCanonical, sha256 } from "../survey/canonical.js";
import { SpecError } from "../survey/errors.js";
import { DEFAULT_ALLOWANCE } from "../survey/allowance.js";
import { MECHANISMS, TYPES } from "../survey/known.js";
import { parseItem } from "../survey/parse_item.js";
import { dumpDecimal, must } from "../survey/rational.js";
import { Draws } from "../device/draws.js";
import { RANDOMIZERS } from "../device/randomize.js";

/** Version of the program, which a record names. */
export const CLIENT = "0.4.0";

const NOT_ALONE = ["visible_if", "any_of", "cohort", "in_files", "anchor", "arm"];
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
    digest: await sha256(dumpCanonical(document)),
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

/** The record of a report that was drawn; `once` says that the device keeps it. */
export async function recordOf(document, report, once) {
  const question = parseQuestion(document);
  const { channel, digest, epsilon, name } = await describeQuestion(document);
  const value = valueOf(question, report);
  const drawn = { report, value, mechanism: document.mechanism, channel, epsilon, once };
  return { format: "sottovoce-record/1", question: name, digest, ...drawn, client: CLIENT };
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
