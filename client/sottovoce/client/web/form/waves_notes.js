import { showEpsilon } from "../survey/rational.js";

/** What the first step says of the questions that were drawn, and of further waves. */
export function wavesNotes({ ask, epsilonOfWave, private: places, waves }, words) {
  const drawn = ask === null ? [] : [words.line("p", "explain_ask", { asked: ask, private: places.length })];
  const further = { waves, epsilon: showEpsilon(epsilonOfWave) };
  return waves > 1 ? [...drawn, words.line("p", "explain_waves", further)] : drawn;
}
