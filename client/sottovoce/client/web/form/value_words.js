import { MORE_VALUE_WORDS, answerInMoreWords } from "./more_value_words.js";

/** A reported value in words. */
export function reportedInWords(question, value, words) {
  if (question.neutral && value < 2) return words.node(value ? "report_a" : "report_b");
  const inWords = MORE_VALUE_WORDS[question.mechanism?.reportKind] ?? answeredInWords;
  return inWords(question, value, words);
}

/** A true value in words. */
export function answeredInWords(question, value, words) {
  if (question.kind.takesCategory) return words.option(question, value);
  return answerInMoreWords(question, value, words);
}
