import { MAX_DENOMINATOR, log, must, sum } from "../rational.js";
import { Mechanism, oddsField } from "./common.js";
import { readFields, readInteger } from "../checks.js";

const MAX_QUESTIONS = 12;
const MAX_COMBINATIONS = 65_536;

/** The answers to several questions, reported together: the maths is in the Python twin. */
export class JointRR {
  /**
   * `{ name: "joint_rr", odds: "9", radius: 0 }`, for questions with so many categories each, of which the device draws
   * `ask`, all if it is undefined. With `ask` they have equally many, so that each drawn set has the same channel.
   */
  constructor(fields, sizes, ask) {
    readFields(fields, ["name", "odds", "radius"]);
    must(fields.name === "joint_rr");
    must(sizes.length > 1 && sizes.length <= MAX_QUESTIONS && sizes.every((size) => size > 1));
    must(sizes.reduce((product, size) => product * size, 1) <= MAX_COMBINATIONS);
    const [near, far] = oddsField(fields);
    if (ask !== undefined) readInteger(ask, 2, sizes.length - 1);
    const asked = ask ?? sizes.length;
    const radius = readInteger(fields.radius, 0, asked - 1);
    must(ask === undefined || sizes.every((size) => size === sizes[0]));
    Object.assign(this, { ask, asked, sizes });
    // How many combinations differ from a given one in 0, 1, ... questions, and the weight of each of them.
    this.counts = countsOf(sizes.slice(0, asked));
    this.weights = this.counts.map((_, distance) => (distance <= radius ? near : far));
    this.total = weightOf(this.counts, this.weights);
    must(this.total <= MAX_DENOMINATOR);
    this.epsilon = log(near, far);
  }

  /**
   * The weight of each combination of offsets (y - x) mod k of a report y from the truth x, the last question's offset
   * running fastest.
   */
  get offsetWeights() {
    const next = (distances, size) =>
      distances.flatMap((distance) => Array(size).fill(distance + 1).fill(distance, 0, 1));
    return this.sizes.slice(0, this.asked).reduce(next, [0]).map((distance) => this.weights[distance]);
  }

  /** How many of `total` report the truth of one question, and how many each other category of it. */
  marginal(position) {
    const others = countsOf(this.sizes.filter((_, place) => place !== position).slice(0, this.asked - 1));
    return [weightOf(others, this.weights), weightOf(others, this.weights.slice(1))];
  }
}

/**
 * One question of a block, as it is reported if nothing else is known. Its epsilon is the block's: to people who know
 * the other answers its report may say so much.
 */
export class JointMember extends Mechanism {
  /** `block` is a JointRR, `position` the question's in it. */
  constructor(block, position, isYesNo) {
    super();
    Object.assign(this, { block, position, isYesNo, epsilon: block.epsilon, largest: block.sizes[position] - 1 });
  }

  /** The mechanism's name in a survey. */
  get name() {
    return "joint_rr";
  }

  /** What its reports are. */
  get reportKind() {
    return this.isYesNo ? "yes_no" : "option";
  }

  /** The end of the name of its sentence, which tells of all answers too. */
  get sentence() {
    return `together_${this.reportKind}`;
  }

  /**
   * How many send their own answer, how many each other one; of yes and no, how many report yes; then how many send all
   * their answers of the block, and how many questions it has.
   */
  explain() {
    const { asked, total, weights } = this.block;
    const [own, other] = this.block.marginal(this.position).map((part) => [part, total]);
    const alone = this.isYesNo ? { yes: own, no: other } : { own, other };
    return { ...alone, all: [weights[0], total], questions: asked };
  }
}

// The coefficients of the product of 1 + (k - 1) z over the sizes k.
function countsOf(sizes) {
  const times = (counts, size) => [...counts, 0].map((one, place) => one + (size - 1) * (counts[place - 1] ?? 0));
  return sizes.reduce(times, [1]);
}

function weightOf(counts, weights) {
  return sum(counts.map((count, distance) => count * weights[distance]));
}
