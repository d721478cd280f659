import { ONE_OF } from "../survey/parse_item.js";
import { arrived } from "../bundles/loading.js";

/** A reported value in words. */
export function reported(question, value, words) {
  if (question.neutral && value < 2) return words.node(value ? "report_a" : "report_b");
  const tell = arrived().rarer?.TELLING.get(question.mechanism?.reportKind) ?? answered;
  return tell(question, value, words);
}

/** A true value in words. */
export function answered(question, value, words) {
  if (ONE_OF.includes(question.type)) return words.option(question, value);
  return arrived().rarer.answeredRarely(question, value, words);
}
