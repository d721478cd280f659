import { ARM_SENTENCES } from "./arm_sentences.js";
import { readFields, readInteger, readItems, readMatch, readNames, readTexts } from "../checks.js";
import { RARE_SENTENCES } from "../known.js";
import { NAME, readAsked } from "../parse_item.js";
import { must, sum } from "../rational.js";
import { Question, Survey } from "../spec.js";

const ARM = "arm";

/**
 * Read the arms of a survey, and add to its questions the public choice that reports the arm; see the Python twins,
 * `parse_arms.py` and `arms.py`.
 */
export function readArms(document, survey) {
  const { arms, after } = document;
  if (arms === undefined) return must(hasNone(document, survey));
  const names = readArmNames(arms);
  must(survey.ask === null && !survey.ownCoin && survey.memoized.length === 0);
  must(!("arms_per_wave" in document) || (document.arms_per_wave === true && "waves" in document));
  for (const item of survey.items) readItem(item, names);
  for (const name of names) must(survey.items.some((item) => item.questions.length > 0 && isIn(item, name)));
  checkLooks(survey, names);
  if (after?.by_arm !== undefined) readTextsByArm(after.by_arm, names, survey.defaultLanguage);
  survey.questions.push(armQuestion(names, survey.defaultLanguage));
  Object.setPrototypeOf(survey, ArmedSurvey.prototype);
  RARE_SENTENCES.add(ARM_SENTENCES);
  return survey;
}

function readArmNames(arms) {
  for (const arm of readItems(arms, 2, 8)) {
    readFields(arm, ["name", "weight"]);
    readMatch(arm.name, NAME);
    readInteger(arm.weight, 1, 1000);
  }
  readNames(arms);
  return arms.map(({ name }) => name);
}

// Without arms, nothing else may speak of one.
function hasNone({ after, arms_per_wave: perWave }, { items }) {
  return perWave === undefined && after?.by_arm === undefined && items.every((item) => item.arms === undefined);
}

// In the order of the arms, so that one set has one spelling; all of them is no restriction.
function readItem({ arms, name, questions }, names) {
  must([name, ...questions.map((question) => question.name)].every((own) => own !== ARM));
  if (arms === undefined) return;
  const places = readItems(arms, 1, names.length - 1).map((arm) => names.indexOf(arm));
  must(places.every((place, index) => place > (places[index - 1] ?? -1)));
  must(questions.every(({ cohort, mechanism }) => !cohort && !mechanism?.block));
}

// What a condition looks at is asked wherever the item is.
function checkLooks({ items }, names) {
  const askedIn = new Map(items.flatMap((item) => item.questions.map(({ name }) => [name, item])));
  for (const item of items) {
    const looked = [...item.visibleIf, ...item.anyOf].map(({ question }) => askedIn.get(question));
    must(names.every((name) => !isIn(item, name) || looked.every((other) => isIn(other, name))));
  }
}

function readTextsByArm(texts, names, language) {
  const keys = Object.keys(readFields(texts, [], names));
  must(keys.length > 0);
  for (const key of keys) readTexts(texts[key], language);
}

function armQuestion(names, language) {
  const choices = names.map((name) => ({ name, label: { [language]: name } }));
  const label = Object.fromEntries(Object.entries(ARM_SENTENCES).map(([tag, { arm_label }]) => [tag, arm_label]));
  const asked = readAsked({ type: "select_one", choices, public: true }, language, false);
  return new Question({ ...asked, name: ARM, label: { [language]: label.en, ...label }, hint: null, cohort: false });
}

function isIn({ arms }, name) {
  return arms === undefined || arms.includes(name);
}

/** A survey with arms: what is asked, and so what a report has and costs, depends on the arm. */
class ArmedSurvey extends Survey {
  /** Of which the device draws one for each respondent: `{ name, weight }`, in the order of their values. */
  get arms() {
    return this.document.arms;
  }

  /** The privacy loss of the dearest arm's report: whichever arm chance takes, the price is the same. */
  get epsilon() {
    // A block is charged once, with its first question.
    const cost = ({ epsilon, mechanism }) => (mechanism?.position ? 0 : epsilon);
    const of = ({ name }) => sum(this.placesInArm(name).map((index) => cost(this.questions[index])));
    return Math.max(...this.arms.map(of));
  }

  /** As of every survey, and after what is shown the arm, whose name is in the answers. */
  encode(answers, asked) {
    return [...super.encode(answers, asked), this.questions.at(-1).encode(answers[ARM] ?? null)];
  }

  /** Indices of what has a value in the arm of this name, the arm itself last. */
  placesInArm(name) {
    const asked = this.items.flatMap((item) => item.questions.map(() => isIn(item, name)));
    return [...this.questions.keys()].filter((index) => asked[index] ?? true);
  }

  /** Whether just the questions of one arm have a value; those of other arms have null. */
  isArmSet(values) {
    const arm = this.arms[values.at(-1)];
    const present = [...values.keys()].filter((index) => values[index] !== null);
    return arm !== undefined && String(present) === String(this.placesInArm(arm.name));
  }

  /** Indices of what is not asked in the arm whose values take most digits. */
  get unaskedInLongest() {
    // A value that is not there takes four letters.
    const longer = (places) => sum(places.map((index) => String(this.questions[index].largest).length - 4));
    const every = this.arms.map(({ name }) => this.placesInArm(name));
    const [longest] = every.sort((one, other) => longer(other) - longer(one));
    return [...this.questions.keys()].filter((index) => !longest.includes(index));
  }

  /** What the first step says of arms: the same to everybody, since the arm is drawn after it. */
  get sentencesOfArms() {
    return [["explain_arms"]];
  }

  /** How many items ask something, at most. */
  get askingInArms() {
    const asking = this.items.filter(({ questions }) => questions.length > 0);
    return Math.max(...this.arms.map(({ name }) => asking.filter((item) => isIn(item, name)).length));
  }

  /** What is seen in the arm of this name: its items, and in `how` the sentence that says how its answers are sent. */
  inArm(name) {
    const items = this.items.filter((item) => isIn(item, name));
    const questions = items.flatMap((item) => item.questions);
    const open = questions.filter(({ mechanism }) => mechanism === null).length;
    const how = open === 0 ? "arm_randomized" : open === questions.length ? "arm_direct" : "arm_mixed";
    return seenAs(this, { items, how });
  }

  /** What is said of a report: which of its questions chance had a say in, and the arm's own closing text. */
  ofReport({ values }) {
    const texts = new Map(Object.entries(this.after?.by_arm ?? {}));
    const text = texts.get(this.arms[values.at(-1)].name);
    const after = text ? { ...this.after, text } : this.after;
    return seenAs(this, { after, private: this.private.filter((index) => values[index] !== null) });
  }
}

// The survey with some fields as they are in one arm.
function seenAs(survey, fields) {
  const own = Object.entries({ text: survey.text, ...fields }).map(([key, value]) => [key, { value }]);
  return Object.create(survey, Object.fromEntries(own));
}
