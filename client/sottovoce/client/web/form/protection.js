import { beliefAfter, NEARLY_SURE } from "../survey/allowance.js";
import { RARE_READERS } from "../survey/known.js";

// Sentence about what is sent, by the kind of the report. Every other kind sends a result that is no answer.
const ANSWER = "how_answer";
const HOW = { yes_no: ANSWER, option: ANSWER, waves: ANSWER, number: ANSWER, bits: "how_boxes" };

/** The question whose mechanism gives away most, the first of equals; undefined if every question is public. */
export function mostRevealing(survey) {
  const asked = survey.private.map((index) => survey.questions[index]);
  return asked.sort((one, other) => other.epsilon - one.epsilon)[0];
}

/** True if all answers together can make 10 % a belief of 90 %: then no sentence says that all is uncertain. */
export function isNearlySure({ epsilon }) {
  return epsilon >= NEARLY_SURE;
}

/** The heading over what protects the answers, where any is private: its key and its values. */
export function protectionTitle({ groups = [], hasFacts, private: { length: chance }, questions: { length: total } }) {
  const [group = { chance, total }, ...others] = groups;
  if (others.length) return ["explain_title_arms"];
  const title = group.chance < group.total ? "explain_title_some" : "explain_title";
  return [hasFacts ? "explain_title_fact" : title, group];
}

/**
 * Keys of the sentences about the protection of randomized answers, in order: what the device does, what no one can be
 * certain of, and, where the heading names only some answers, how the others are sent.
 */
export function protectionSentences(survey) {
  const certain = isNearlySure(survey) ? [] : ["how_certain"];
  const [, group] = protectionTitle(survey);
  const others = group?.chance < group?.total ? ["how_open"] : [];
  return [...procedureOf(survey), ...certain, ...others];
}

// People who toss their own coin read only about coins.
function procedureOf({ ownCoin, questions }) {
  const made = questions.map(({ mechanism }) => mechanism).filter(Boolean);
  if (!ownCoin) {
    const dice = made.some(({ procedure }) => !procedure) ? ["how_dice"] : [];
    const how = ({ procedure, reportKind }) => (procedure ? "how_innocuous" : HOW[reportKind] ?? "how_drawn");
    return [...dice, ...new Set(made.map(how))];
  }
  const byCoin = made.every((mechanism) => RARE_READERS.procedure(mechanism).flips > 0);
  return [byCoin ? "explain_own_coin" : "explain_own_die"];
}

/** The sentence about how far one answer, and all of them, can move an observer's belief: its key and its values. */
export function beliefSentence(survey, words) {
  const share = (epsilon) => {
    const percent = beliefAfter(epsilon);
    return percent > 99 ? words.translate("nearly_100") : percent;
  };
  const values = () => ({ one: share(mostRevealing(survey).epsilon), all: share(survey.epsilon) });
  const { epsilon, mechanism } = mostRevealing(survey);
  // One question is the whole report.
  const sentence = epsilon < survey.epsilon ? "belief_all" : "belief_one";
  return [sentence + (mechanism.block ? "_together" : ""), values];
}
