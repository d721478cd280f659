import { must, showEpsilon } from "./rational.js";
import { readFields, readItems, readMoment } from "./checks.js";

/** Refuse a survey whose waves, `ask` or memos are not as the Python twin, `parse_survey.py`, wants them. */
export function readWaves(document, survey) {
  if ("waves" in document) readWindows(document);
  readMemo(survey);
  must(survey.memoized.length === 0 || !("fresh_samples" in document));
}

// Waves follow one another, in the place of the survey's own window.
function readWindows(document) {
  must(!("opens" in document || "closes" in document));
  let earliest = -Infinity;
  for (const wave of readItems(document.waves, 1, 1000)) {
    readFields(wave, ["closes", "opens"]);
    const [opens, closes] = [readMoment(wave.opens), readMoment(wave.closes)];
    must(earliest <= opens && opens < closes);
    earliest = closes;
  }
}

/** What the first step says of further waves: keys of sentences, and values. */
export function sentencesOfWaves({ epsilonOfWave, waves }) {
  return waves > 1 ? [["explain_waves", { waves, epsilon: showEpsilon(epsilonOfWave) }]] : [];
}

// A memo lies under no token, goes with no drawn set, and is charged for as many waves as it says.
function readMemo({ access, ask, memoized, questions, waves }) {
  must(memoized.length === 0 || (access !== "token" && ask === null));
  for (const index of memoized) must(waves <= questions[index].mechanism.waves);
}
