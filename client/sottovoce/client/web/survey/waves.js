import { must, showEpsilon, sum } from "./rational.js";
import { readFields, readInteger, readItems, readMoment } from "./checks.js";

/** Refuse a survey whose waves, `ask` or memos are not as the Python twin, `parse_survey.py`, wants them. */
export function readWaves(document, survey) {
  if ("waves" in document) readWindows(document);
  if ("ask" in document) readAsk(survey);
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

// A condition may look at public questions only: the others may not be asked. A block is asked as a whole.
function readAsk(survey) {
  const { ask, items, ownCoin, questions } = survey;
  readInteger(ask, 1, unitsOf(survey).length - 1);
  const mechanisms = new Map(questions.map(({ mechanism, name }) => [name, mechanism]));
  const isAsked = (mechanism, own) => mechanism === null || (own && mechanism.block === own);
  must(!ownCoin);
  for (const { anyOf, questions: asked, visibleIf } of items) {
    const own = asked[0]?.mechanism?.block;
    must([...visibleIf, ...anyOf].every(({ question }) => isAsked(mechanisms.get(question), own)));
  }
}

/** Indices of the questions that are drawn together: those of each block, each other private one by itself. */
export function unitsOf({ private: places, questions }) {
  const units = [];
  for (const index of places) {
    if (questions[index].mechanism.position) units.at(-1).push(index);
    else units.push([index]);
  }
  return units;
}

/** Whether one respondent is asked just the questions that have a value here; those not asked have null. */
export function isDrawnSet(survey, values) {
  const units = unitsOf(survey);
  const unasked = units.filter(([first]) => values[first] === null);
  const absent = [...values.keys()].filter((index) => values[index] === null);
  return units.length - unasked.length === survey.ask && String(absent) === String(unasked.flat());
}

/** What the first step says of the questions that were drawn, and of further waves: keys of sentences, and values. */
export function sentencesOfWaves(survey) {
  const { ask, epsilonOfWave, waves } = survey;
  const drawn = ask === null ? [] : [["explain_ask", { asked: ask, private: unitsOf(survey).length }]];
  const further = { waves, epsilon: showEpsilon(epsilonOfWave) };
  return waves > 1 ? [...drawn, ["explain_waves", further]] : drawn;
}

/** Indices of what is not asked where those private questions are whose values take most digits. */
export function unaskedInLongest(survey) {
  // A value that is not there takes four letters.
  const longer = (unit) => sum(unit.map((index) => String(survey.questions[index].largest).length - 4));
  return unitsOf(survey).sort((one, other) => longer(other) - longer(one)).slice(survey.ask).flat();
}

// A memo lies under no token, goes with no drawn set, and is charged for as many waves as it says.
function readMemo({ access, ask, memoized, questions, waves }) {
  must(memoized.length === 0 || (access !== "token" && ask === null));
  for (const index of memoized) must(waves <= questions[index].mechanism.waves);
}
