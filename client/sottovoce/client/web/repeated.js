import { keepAsked } from "./asked.js";
import { checkMemo, forgetMemo, keepMemo } from "./memo.js";
import { must } from "./rational.js";
import { readFields, readInteger, readItems, readMoment } from "./reading.js";

/** What only surveys need that are asked in several waves, or of each person in part. */
export const REPEATED = { checkMemo, forgetMemo, keepAsked, keepMemo, readRepeated };

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

function readAsk(survey) {
  readInteger(survey.ask, 1, survey.private.length - 1);
  must(!survey.ownCoin && survey.items.every((item) => item.visibleIf.length === 0));
}

// A memo lies under no token, goes with no drawn set, and is charged for as many waves as it says.
function readMemo({ access, ask, memoized, questions, waves }) {
  must(memoized.length === 0 || (access === "open" && ask === null));
  for (const index of memoized) must(waves <= questions[index].mechanism.waves);
}
