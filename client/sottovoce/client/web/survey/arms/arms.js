import { ARM_SENTENCES } from "../sentences/arm.js";
import { readFields, readInteger, readItems, readMatch, readNames, readTexts } from "../checks.js";
import { RARE_SENTENCES } from "../known.js";
import { NAME, readAsked } from "../parse_item.js";
import { must } from "../rational.js";
import { Question } from "../spec.js";

const ARM = "arm";

/**
 * Read the arms of a survey, and add to its questions the public choice that reports the arm; see the Python twins,
 * `parse_item.py` and `arms.py`.
 */
export function readArms(document, survey) {
  const { arms, after } = document;
  if (arms === undefined) return must(hasNone(document, survey));
  const names = readArmNames(arms);
  must(!survey.ownCoin && survey.memoized.length === 0);
  must(!("arms_per_wave" in document) || "waves" in document);
  for (const item of survey.items) readItem(item, names);
  for (const name of names) must(survey.itemsInArm(name).some((item) => item.questions.length > 0));
  checkLooks(survey, names);
  if (after?.by_arm !== undefined) readTextsByArm(after.by_arm, names, survey.defaultLanguage);
  survey.questions.push(armQuestion(names, survey.defaultLanguage));
  Object.setPrototypeOf(survey, armedClass(Object.getPrototypeOf(survey).constructor).prototype);
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
  must(questions.every(({ cohort }) => !cohort));
}

// What a condition looks at is asked wherever the item is.
function checkLooks(survey, names) {
  const { items } = survey;
  const askedIn = new Map(items.flatMap((item) => item.questions.map(({ name }) => [name, item])));
  for (const item of items) {
    const looked = [...item.visibleIf, ...item.anyOf].map(({ question }) => askedIn.get(question));
    const isIn = (name) => survey.itemsInArm(name).includes(item);
    must(names.every((name) => !isIn(name) || looked.every((other) => survey.itemsInArm(name).includes(other))));
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

// A survey with arms: what is asked, and so what a report has and costs, depends on the arm.
function armedClass(Sampled) {
  return class extends Sampled {
    /** Of which the device draws one for each respondent: `{ name, weight }`, in the order of their values. */
    get arms() {
      return this.document.arms;
    }

    /** As of every survey, and after what is shown the arm, whose name is in the answers. */
    encode(answers, asked) {
      return [...super.encode(answers, asked), this.questions.at(-1).encode(answers[ARM] ?? null)];
    }

    /** What the first step says of the groups, keys and values, before what is said of randomized answers. */
    get groupSentences() {
      const kind = ({ chance, total }) => (chance ? (chance < total ? "group_mixed" : "group_chance") : "group_open");
      const lines = this.groups.map((group) => [kind(group), group]);
      return lines.length > 1 ? [...lines, ["group_seen"]] : [];
    }

    /** What the first step says of arms that send alike. */
    get sentencesAtStart() {
      return this.groups.length > 1 ? [] : [["arms_alike"]];
    }

    /** What is seen in the arm of this name: its items, and in `how` what is said of how its answers are sent. */
    inArm(name) {
      const items = this.itemsInArm(name);
      const questions = items.flatMap((item) => item.questions);
      const open = questions.filter(({ mechanism }) => mechanism === null).length;
      const how = open === 0 ? "arm_randomized" : open === questions.length ? "arm_direct" : "arm_mixed";
      return seenAs(this, { items, how: [[how], ...this.sentencesOfSamples(name)] });
    }

    /** What is said of a report: which of its questions chance had a say in, and the arm's own closing text. */
    ofReport({ values }) {
      const texts = new Map(Object.entries(this.after?.by_arm ?? {}));
      const text = texts.get(this.arms[values.at(-1)].name);
      const after = text ? { ...this.after, text } : this.after;
      const name = this.armNames[values.at(-1)];
      const chance = this.private.filter((index) => values[index] !== null);
      const asked = values.slice(0, -1).filter((value) => value !== null);
      return seenAs(this, { after, asked, private: chance, epsilon: this.epsilonInArm(name) });
    }
  };
}

// The survey with some fields as they are in one arm.
function seenAs(survey, fields) {
  const own = Object.entries({ text: survey.text, ...fields }).map(([key, value]) => [key, { value }]);
  return Object.create(survey, Object.fromEntries(own));
}
