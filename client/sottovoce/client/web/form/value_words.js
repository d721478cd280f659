import { optionLabel } from "./odds_words.js";
import { bitsOf } from "../survey/answers.js";
import { element } from "./dom.js";

/** A reported value in words. */
export function reportedInWords(question, value, words) {
  if (question.neutral && value < 2) return words.node(value ? "report_a" : "report_b");
  const inWords = MORE_VALUE_WORDS[question.mechanism?.reportKind] ?? answeredInWords;
  return inWords(question, value, words);
}

/** A true value in words. */
export function answeredInWords(question, value, words) {
  if (question.kind.takesCategory) return optionLabel(question, value, words);
  return answerInMoreWords(question, value, words);
}

// How reports that do not look like an answer are said, by their kind.
const MORE_VALUE_WORDS = {
  set: several,
  bits: several,
  drawn_option: (question, value, words) => sampled(question, value, words, ["no", "yes"]),
  drawn_end: (question, value, words) => sampled(question, value, words, ["low", "high"]),
  end: (_, value, words) => words.node(["low", "high"][value]),
  mark,
  own_mark: mark,
  range,
};

// A true value of several options, or of numbers, in words.
function answerInMoreWords(question, value, words) {
  const { grid, options } = question.domain;
  if (grid === null) return several(question, value, words);
  if (options.length === 0) return words.number(grid.text(value));
  return list(value.map((step, index) => named(question, index, words, words.number(grid.text(step)))), words);
}

function several(question, mask, words) {
  return list(bitsOf(mask, question.options).map((option) => optionLabel(question, option, words)), words);
}

function sampled(question, value, words, bits) {
  return named(question, Math.floor(value / 2), words, words.node(bits[value % 2]));
}

function mark({ largest }, value, words) {
  return words.node("mark", { number: value + 1, total: largest + 1 });
}

function range({ domain, mechanism }, value, words) {
  const [first, last] = mechanism.span(value).map((step) => domain.grid.text(step));
  return first === last ? words.number(first) : words.node("range", { first, last });
}

function named(question, option, words, content) {
  return element("span", {}, optionLabel(question, option, words), words.node("colon"), content);
}

function list(nodes, words) {
  if (nodes.length === 0) return words.node("none");
  return element("span", {}, ...nodes.flatMap((node) => [words.node("semicolon"), element("wbr"), node]).slice(2));
}
