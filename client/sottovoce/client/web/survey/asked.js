import { readInteger } from "./checks.js";
import { RARE_READERS } from "./known.js";
import { must, sum } from "./rational.js";
import { Survey } from "./spec.js";

/** Have a survey decide by its arms and `ask` what one respondent is asked; see the Python twin, `arms/arms.py`. */
export function readSample(document, survey) {
  Object.setPrototypeOf(survey, SampledSurvey.prototype);
  RARE_READERS.readArms?.(document, survey);
  if ("ask" in document) {
    readInteger(survey.ask, 1, Math.max(...survey.armNames.map((name) => survey.unitsInArm(name).length)) - 1);
  }
  checkAsk(survey);
}

function checkAsk(survey) {
  const mechanisms = new Map(survey.questions.map(({ mechanism, name }) => [name, mechanism]));
  const isInBlock = [...mechanisms.values()].some((mechanism) => mechanism?.block?.ask);
  must(!(survey.ask !== null && isInBlock) && !((survey.ask !== null || isInBlock) && survey.ownCoin));
  // A condition looks at what is asked of all who may see it: a block is asked as a whole, but for an `ask` of its own.
  const isAsked = (mechanism, own) => {
    if (mechanism === null) return true;
    return mechanism.block?.ask ? false : survey.ask === null || (own && mechanism.block === own);
  };
  for (const { anyOf, questions: asked, visibleIf } of survey.items) {
    const own = asked[0]?.mechanism?.block;
    must([...visibleIf, ...anyOf].every(({ question }) => isAsked(mechanisms.get(question), own)));
  }
}

/** Whether an item is asked in the arm of this name. */
function isInArm({ arms }, name) {
  return arms === undefined || arms.includes(name);
}

/** A survey that asks a respondent for the questions of one arm or, with `ask`, for a drawn set of them. */
export class SampledSurvey extends Survey {
  /** The names of the arms; one of everybody, without a name, without arms. */
  get armNames() {
    return this.document.arms?.map(({ name }) => name) ?? [""];
  }

  /** The items that are shown in the arm of this name. */
  itemsInArm(name) {
    return this.items.filter((item) => isInArm(item, name));
  }

  /** Indices of what may have a value in the arm of this name, the arm itself last. */
  placesInArm(name) {
    const asked = this.items.flatMap((item) => item.questions.map(() => isInArm(item, name)));
    return [...this.questions.keys()].filter((index) => asked[index] ?? true);
  }

  /** Indices of the questions that are drawn together: those of each block, each other private one by itself. */
  unitsInArm(name) {
    const places = this.placesInArm(name);
    const units = [];
    for (const index of this.private.filter((place) => places.includes(place))) {
      if (this.questions[index].mechanism.position) units.at(-1).push(index);
      else units.push([index]);
    }
    return units;
  }

  /** What the device draws from in an arm, in the order drawn: so many of some units; empty if all are asked. */
  samplesInArm(name) {
    const units = this.unitsInArm(name);
    const whole = this.ask !== null && this.ask < units.length ? [{ size: this.ask, units }] : [];
    const inBlocks = units.filter((unit) => this.askedOf(unit) < unit.length);
    return [...whole, ...inBlocks.map((unit) => ({ size: this.askedOf(unit), units: unit.map((index) => [index]) }))];
  }

  /** How many questions of a unit a person is asked, if any. */
  askedOf(unit) {
    return this.questions[unit[0]].mechanism.block?.asked ?? unit.length;
  }

  /** The privacy loss of the m costliest units of the dearest arm: whatever chance takes, the price is the same. */
  get epsilon() {
    return Math.max(...this.armNames.map((name) => this.epsilonInArm(name)));
  }

  /** The privacy loss of a report in the arm of this name. */
  epsilonInArm(name) {
    const epsilons = this.unitsInArm(name).map(([first]) => this.questions[first].epsilon);
    return sum(epsilons.sort((one, other) => other - one).slice(0, this.ask ?? undefined));
  }

  /** Whether just the questions of one respondent have a value here; the others have null. */
  isAskedSet(values) {
    const name = this.document.arms ? this.armNames[values.at(-1)] : "";
    if (name === undefined) return false;
    const units = this.unitsInArm(name);
    const begun = units.filter((unit) => unit.some((index) => values[index] !== null));
    const isHere = (index) => values[index] !== null;
    const whole = begun.every((unit) => unit.filter(isHere).length === this.askedOf(unit));
    const places = this.placesInArm(name);
    const open = units.flat();
    const right = values.every((_, index) => open.includes(index) || isHere(index) === places.includes(index));
    return right && whole && begun.length === Math.min(this.ask ?? Infinity, units.length);
  }

  /** Indices of what is not asked where the values take most digits. */
  get unaskedInLongest() {
    // A value that is not there takes four letters.
    const longer = (places) => sum(places.map((index) => String(this.questions[index].largest).length - 4));
    const sets = this.armNames.map((name) => {
      let longest = this.placesInArm(name);
      // The sets within blocks first, so that a block counts with what is asked of it.
      for (const { size, units } of this.samplesInArm(name).reverse()) {
        const kept = units.map((unit) => unit.filter((index) => longest.includes(index)));
        const unasked = kept.sort((one, other) => longer(other) - longer(one)).slice(size).flat();
        longest = longest.filter((index) => !unasked.includes(index));
      }
      return longest;
    });
    const [longest] = sets.sort((one, other) => longer(other) - longer(one));
    return [...this.questions.keys()].filter((index) => !longest.includes(index));
  }

  /** How many questions a person in this arm is asked, at most, and how many of these answers are randomized. */
  countsInArm(name) {
    const open = this.itemsInArm(name).flatMap((item) => item.questions).filter(({ mechanism }) => mechanism === null);
    const drawn = this.unitsInArm(name).map((unit) => this.askedOf(unit)).sort((one, other) => other - one);
    const chance = sum(drawn.slice(0, this.ask ?? undefined));
    return { chance, total: open.length + chance };
  }

  /**
   * How people's answers are sent: `weight` of all `whole` people send `total` answers, `chance` of them randomized.
   * Arms that send alike are one group, as all are that randomize every answer, or none; without arms there is one.
   */
  get groups() {
    const arms = this.document.arms ?? [{ name: "", weight: 1 }];
    const whole = sum(arms.map(({ weight }) => weight));
    const groups = new Map();
    for (const { name, weight } of arms) {
      const counts = this.countsInArm(name);
      const key = counts.chance % counts.total ? Object.values(counts).join() : counts.chance > 0;
      groups.set(key, { ...counts, whole, weight: weight + (groups.get(key)?.weight ?? 0) });
    }
    return [...groups.values()];
  }

  /** How many items ask something, at most; where some are drawn, each question counts. */
  get mostAsked() {
    const count = (name) => {
      const items = this.itemsInArm(name).filter(({ questions }) => questions.length > 0);
      return this.samplesInArm(name).length === 0 ? items.length : this.countsInArm(name).total;
    };
    return Math.max(...this.armNames.map(count));
  }

  /** What is said of the drawn questions of an arm: keys of sentences, and values. */
  sentencesOfSamples(name) {
    const said = ({ size, units }) => ["explain_ask", { asked: size, private: units.length }];
    return this.samplesInArm(name).map(said);
  }

  /** What the first step says of what is drawn. */
  get sentencesAtStart() {
    return this.sentencesOfSamples("");
  }
}
