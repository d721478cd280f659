import { dumpCanonical } from "../survey/canonical.js";
import { BudgetExhausted } from "../survey/errors.js";
import { memoKey } from "./entries.js";
import { sum } from "../survey/rational.js";

/**
 * The permanent answers [no, yes] by the index of each memoized question, drawn and charged before the first report
 * that makes use of them; null if the survey needs none. See the Python twin.
 *
 * @throws {BudgetExhausted} drawn for another question or with other odds, forgotten, or not to be read
 */
export async function keepMemo({ draws, key, ledger, survey, transport }) {
  if (survey.memoized.length === 0) return null;
  const drawn = drawMemo(survey, draws);
  const body = dumpCanonical(Object.fromEntries([...drawn].map(([index, pair]) => written(survey, index, pair))));
  // The part of the survey's epsilon that covers all waves.
  const epsilon = sum(survey.memoized.map((index) => survey.questions[index].epsilon));
  await ledger.record(memoKey(key), { digest: survey.digest, epsilon, body, sent: true });
  const stored = await checkMemo({ key, ledger, survey, transport });
  if (stored === null) throw new BudgetExhausted("error_ledger");
  return stored;
}

/**
 * What was kept, or null; nothing is drawn. It is found by the names of the questions and by the odds that it was drawn
 * with, whatever else a correction has changed; it throws as `keepMemo` does.
 */
export async function checkMemo({ key, ledger, survey, transport }) {
  const entry = await ledger.get(memoKey(key));
  if (entry === null) return null;
  if (entry.ended) throw new BudgetExhausted("error_memo");
  const stored = new Map(Object.entries(await readStored(entry, { key, ledger, survey, transport })));
  return new Map(survey.memoized.map((index) => [index, recall(stored, survey.questions[index])]));
}

/** A memo drawn anew. */
export function drawMemo(survey, draws) {
  return new Map(survey.memoized.map((index) => [index, memorize(survey.questions[index].mechanism, draws)]));
}

function written(survey, index, pair) {
  const { mechanism, name } = survey.questions[index];
  return [name, { answers: pair.join(""), ...numbersOf(mechanism) }];
}

// What was drawn with, and what the charge covers: with other odds or more waves it would be another look at the truth.
function numbersOf({ instantaneous, permanent, waves }) {
  return { layer: permanent.fractions, waves: [...instantaneous.fractions, waves] };
}

function recall(stored, { mechanism, name }) {
  const { answers, ...numbers } = stored.get(name) ?? {};
  if (dumpCanonical(numbers) !== dumpCanonical(numbersOf(mechanism))) throw new BudgetExhausted("error_memo_other");
  const pair = [...String(answers)].map((digit) => "01".indexOf(digit));
  if (pair.length !== 2 || pair.includes(-1)) throw new BudgetExhausted("error_ledger");
  return pair;
}

async function readStored(entry, { key, ledger, survey, transport }) {
  const body = String(entry.body);
  if (/^[01]+$/.test(body)) return readDigits(body, await drawnFor(entry.digest, { key, ledger, survey, transport }));
  try {
    const read = JSON.parse(body);
    if (body.startsWith("{") && dumpCanonical(read) === body) return read;
  } catch {
    // Told below, in the same words as any other damage.
  }
  throw new BudgetExhausted("error_ledger");
}

// Earlier releases kept digits alone, in the order of the questions of the survey that they were drawn for.
function readDigits(body, drawnUnder) {
  if (body.length !== 2 * drawnUnder.memoized.length) throw new BudgetExhausted("error_ledger");
  const pairs = drawnUnder.memoized.map((index, place) => [index, [...body.slice(2 * place, 2 * place + 2)]]);
  return Object.fromEntries(pairs.map(([index, pair]) => written(drawnUnder, index, pair)));
}

async function drawnFor(digest, { key, ledger, survey, transport }) {
  if (digest === survey.digest) return survey;
  const { surveyDrawnFor } = await import("./revisions.js");
  const found = await surveyDrawnFor(ledger, transport, key[1], digest);
  if (found === null) throw new BudgetExhausted("error_memo_other");
  return found;
}

/** The permanent answers for a truth of no and of yes: both, so that what is kept tells nothing of the truth. */
export function memorize(mechanism, draws) {
  return [0, 1].map((truth) => draws.pick(mechanism.permanent.weights(truth)));
}

/**
 * 0 or 1, one wave's report: the permanent answer for `truth` through the instantaneous layer.
 *
 * Epsilon: `mechanism.epsilon` covers all waves under one memo. Bytes: one pick of the instantaneous layer, whatever
 * the truth; two of the permanent layer before it, where no memo is given because it is the person's only wave.
 */
export function randomizeMemoizedRR(mechanism, truth, draws, memo = memorize(mechanism, draws)) {
  return draws.pick(mechanism.instantaneous.weights(memo[truth]));
}
