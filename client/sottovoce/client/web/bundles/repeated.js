import { keepAsked } from "../device/question_sample.js";
import { MemoizedRR } from "../survey/mechanisms/memoized_rr.js";
import { checkMemo, forgetMemo, keepMemo } from "../device/memo.js";
import { randomizeMemoizedRR } from "../device/randomizers/memoized_rr.js";
import { must, showEpsilon } from "../survey/rational.js";
import { readFields, readInteger, readItems, readMoment } from "../survey/checks.js";

/** What only surveys need that are asked in several waves, or of each person in part. */
export const REPEATED = {
  mechanisms: [[MemoizedRR, randomizeMemoizedRR]],
  checkMemo,
  forgetMemo,
  keepAsked,
  keepMemo,
  readRepeated,
  repeatedNotes,
};

/** What the first step says of the questions that were drawn, and of further waves. */
export function repeatedNotes({ ask, epsilonOfWave, private: places, waves }, words) {
  const drawn = ask === null ? [] : [words.said("p", "explain_ask", { asked: ask, private: places.length })];
  const further = { waves, epsilon: showEpsilon(epsilonOfWave) };
  return waves > 1 ? [...drawn, words.said("p", "explain_waves", further)] : drawn;
}

/** Refuse a survey whose waves, `ask` or memos are not as the Python twin wants them, in `parsing`. */
export function readRepeated(document, survey) {
  if ("waves" in document) readWaves(document);
  if ("ask" in document) readAsk(survey);
  readMemo(survey);
}

// Waves follow one another, in the place of the survey's own window.
function readWaves(document) {
  must(!("opens" in document || "closes" in document));
  let earliest = -Infinity;
  for (const wave of readItems(document.waves, 1, 1000)) {
    readFields(wave, ["closes", "opens"]);
    const [opens, closes] = [readMoment(wave.opens), readMoment(wave.closes)];
    must(earliest <= opens && opens < closes);
    earliest = closes;
  }
}

// A condition may look at public questions only: the others may not be asked.
function readAsk({ ask, items, ownCoin, private: places, questions }) {
  readInteger(ask, 1, places.length - 1);
  const mayBeLeftOut = places.map((index) => questions[index].name);
  const conditions = items.flatMap((item) => item.visibleIf);
  must(!ownCoin && !conditions.some((condition) => mayBeLeftOut.includes(condition.question)));
}

// A memo lies under no token, goes with no drawn set, and is charged for as many waves as it says.
function readMemo({ access, ask, memoized, questions, waves }) {
  must(memoized.length === 0 || (access === "open" && ask === null));
  for (const index of memoized) must(waves <= questions[index].mechanism.waves);
}
