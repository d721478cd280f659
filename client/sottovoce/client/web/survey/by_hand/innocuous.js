import { INNOCUOUS_SENTENCES } from "../sentences/innocuous.js";
import { locate, readFields, readMatch, readTexts } from "../checks.js";
import { RARE_READERS, RARE_SENTENCES } from "../known.js";
import { BinaryRR } from "../mechanisms/common.js";
import { NAME, NOTE, readQuestion } from "../parse_item.js";
import { log, must, parseFraction } from "../rational.js";
import { Question } from "../spec.js";

const CROSSWISE = "crosswise";
const STATEMENTS = ["crosswise_same", "crosswise_one"];
const BIRTH = ["birth", "birthday", "birthdate", "birthmonth", "born", "dob"];
const FILLERS = ["date", "day", "month", "my", "of"];
const STAND_IN = { name: "binary_rr", a: "3/4", b: "1/4" };
const LARGEST_DENOMINATOR = 1_000_000;

/** A yes/no channel that a fact of the person's own realizes: the device draws nothing. The maths is in the twin. */
export class InnocuousRR extends BinaryRR {
  /** `procedure` and `innocuous` of a question's document; RangeError if impossible. */
  constructor(procedure, fields, language) {
    super(STAND_IN);
    const isCrosswise = procedure === CROSSWISE;
    must(isCrosswise || procedure === "unrelated_question");
    readFields(fields, ["label", "share", "source", ...(isCrosswise ? [] : ["truth"])], ["fact", "se"]);
    readTexts(fields.source, language);
    const truth = isCrosswise ? [1, 1] : readTruth(fields.truth);
    const shares = sharesOf(fields);
    checkShares(shares, isCrosswise);
    const channels = shares.map((share) => channel(share, truth, isCrosswise));
    const [[yes, no, whole]] = channels;
    this.rows = [[whole - no, no], [whole - yes, yes]];
    this.epsilon = Math.max(...channels.map(([a, b, all]) => Math.max(log(a, b), log(all - b, all - a))));
    this.share = shares[0];
    const isRare = 2 * this.share[0] < this.share[1];
    this.answers = isCrosswise ? (isRare ? STATEMENTS : [...STATEMENTS].reverse()) : ["no", "yes"];
    // "Both or neither" is shown first, and so is yes.
    this.order = isCrosswise && isRare ? [0, 1] : [1, 0];
    this.label = readTexts(fields.label, language);
    this.fact = "fact" in fields ? readMatch(fields.fact, NAME) : "";
    this.faces = (truth[0] * 6) / truth[1];
    // The end of the name of its sentence.
    this.procedure = this.sentence = procedure;
  }

  /** How many choose "exactly one", or say yes: where the sensitive statement is true, and where not. */
  explain() {
    const [part, whole] = this.share;
    return this.procedure === CROSSWISE ? { yes: [whole - part, whole], no: [part, whole] } : super.explain();
  }
}

// The chance of one throw of a die.
function readTruth(text) {
  const [part, whole] = parseFraction(text);
  must(0 < part && part < whole && 6 % whole === 0);
  return [part, whole];
}

// The share, and those two standard errors away.
function sharesOf({ se, share }) {
  const [part, whole] = parseFraction(share);
  const [error, of] = se === undefined ? [0, 1] : parseFraction(se);
  must((se === undefined || error > 0) && Math.max(whole, of) <= LARGEST_DENOMINATOR);
  return [[part, whole], ...[-2, 2].map((times) => [part * of + times * error * whole, whole * of])];
}

function checkShares(shares, isCrosswise) {
  for (const [part, whole] of shares) must(whole <= 20 * part && 20 * part <= 19 * whole);
  const signs = new Set(shares.map(([part, whole]) => Math.sign(2 * part - whole)));
  must(!isCrosswise || (signs.size === 1 && !signs.has(0)));
}

// How many of how many report 1: where the sensitive statement is true, and where not.
function channel([part, whole], [truth, of], isCrosswise) {
  const other = whole - part;
  if (isCrosswise) return [Math.max(part, other), Math.min(part, other), whole];
  const no = (of - truth) * part;
  return [truth * whole + no, no, of * whole];
}

/** A question that a fact of the person's own hides. */
export function readInnocuous({ innocuous, procedure, ...value }, language) {
  readFields(value, NOTE, ["arm", "hint"]);
  must(value.type === "boolean");
  const mechanism = new InnocuousRR(procedure, innocuous, language);
  const item = readQuestion({ ...value, mechanism: STAND_IN }, language, false);
  return { ...item, questions: [new Question({ ...item.questions[0], mechanism })] };
}

/** Refuse what gives away a fact that hides an answer, or that uses one twice; tell the survey if it has such ones. */
export function checkInnocuous(survey) {
  const { items, ownCoin, questions, waves } = survey;
  const hidden = questions.filter(({ mechanism }) => mechanism?.procedure);
  if (hidden.length === 0) return;
  must(waves === 1 && !ownCoin);
  const armsOf = ({ arms = [] }) => [arms].flat();
  // One statement is one fact, whatever it is called; each person answers the questions of one arm.
  for (const arm of new Set([undefined, ...items.flatMap(armsOf)])) {
    const seen = items.filter((item) => !armsOf(item).length || armsOf(item).includes(arm));
    const used = seen.flatMap(({ questions: [asked] }) => (hidden.includes(asked) ? knownBy(asked.mechanism) : []));
    must(new Set(used).size === used.length);
  }
  survey.hasFacts = true;
  // Whether the device draws nothing at all; undefined in other surveys.
  survey.isByFacts = hidden.length === survey.private.length;
  items.forEach((item, index) =>
    locate(`/questions/${index}`, () => {
      must([...item.visibleIf, ...item.anyOf].every(({ question }) => hidden.every(({ name }) => name !== question)));
      must(item.questions.every((asked) => hidden.every(({ mechanism }) => !asksFor(mechanism.fact, asked))));
    }),
  );
}

// By what a fact is known again: its name, and its statement in each language, however they are spelled.
function knownBy({ fact, label }) {
  const words = fact.split("_").map((word) => (BIRTH.includes(word) ? "birthday" : word));
  const named = words.filter((word) => !words.includes("birthday") || !FILLERS.includes(word)).join("_");
  const statements = Object.values(label).map((text) => lettersOf(text) || text);
  return [...new Set(fact ? [`fact ${named}`, ...statements] : statements)];
}

// Without capitals, spaces, punctuation and symbols.
function lettersOf(text) {
  return text.normalize("NFKC").toLowerCase().replaceAll(/[\p{C}\p{P}\p{S}\p{Z}]/gu, "");
}

function asksFor(fact, { mechanism, name, type }) {
  if (!fact || mechanism?.procedure) return false;
  const isBirthday = fact.split("_").some((word) => BIRTH.includes(word));
  const words = isBirthday ? [fact, ...BIRTH] : [fact];
  return words.some((word) => `_${name}_`.includes(`_${word}_`)) || (isBirthday && type === "date");
}

/** Have what reads such questions, and the page's sentences about them. */
export function bringInnocuous() {
  for (const procedure of [CROSSWISE, "unrelated_question"]) RARE_READERS.ITEM_READERS.set(procedure, readInnocuous);
  RARE_READERS.checkInnocuous = checkInnocuous;
  RARE_SENTENCES.add(INNOCUOUS_SENTENCES);
}
