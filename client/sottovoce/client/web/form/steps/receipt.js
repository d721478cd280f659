import { button, element, heading, table } from "../dom.js";
import { mostRevealing } from "./odds_picture.js";
import { showEpsilon } from "../../survey/rational.js";
import { parseReport } from "../../survey/report.js";
import { reportedInWords } from "../value_words.js";

/**
 * The last step: the values that were sent, in words and as bytes. It is made from the sent bytes alone.
 *
 * `spent` is what all reports to this aggregator cost; `onEnd` is told "withdraw" or "forget".
 */
export function receiptStep(survey, words, receipt, isEarlier, spent, onEnd) {
  const { values } = parseReport(receipt.body);
  const rows = survey.questions.map((question, index) => [
    words.text("span", question.label),
    values[index] === null ? words.node("not_asked") : reportedInWords(question, values[index], words),
  ]);
  const columns = ["question", "receipt_sent"].map((key) => words.node(key));
  const title = heading(1, words.node("receipt_title"));
  const sentence = survey.ownCoin ? "receipt_own_coin" : "receipt_note";
  const note = words.said("p", isEarlier ? "receipt_earlier" : sentence, {}, { className: "lead" });
  const more = isEarlier ? [words.said("p", sentence)] : [];
  const sent = table([words.text("span", survey.title)], columns, rows);
  const cost = words.said("p", "receipt_epsilon", { epsilon: showEpsilon(survey.epsilon) });
  const total = words.said("p", "spent", { spent: showEpsilon(spent) });
  const details = [why(survey, words), bytes(words, receipt)];
  const actions = ["withdraw", "forget"].map((how) => button(words.node(how), "", () => onEnd(how)));
  const row = element("div", { className: "actions" }, ...actions);
  const node = element("div", { id: "receipt" }, title, note, ...more, sent, cost, total, ...details, row);
  return { node, start: title };
}

function why(survey, words) {
  const most = mostRevealing(survey);
  const odds = most ? [element("p", {}, words.odds(most))] : [];
  return element("details", {}, words.said("summary", "why_title"), words.said("p", "why_note"), ...odds);
}

function bytes(words, receipt) {
  const list = element("dl", {});
  const entries = [
    ["receipt_bytes", receipt.body],
    ["receipt_sha256", receipt.sha256],
    ["receipt_digest", receipt.digest],
    ["receipt_id", receipt.report_id],
  ];
  for (const [key, value] of entries) {
    list.append(words.said("dt", key), element("dd", {}, element("code", { dir: "ltr", id: key }, value)));
  }
  const note = words.said("p", "verify_note", {}, { className: "hint" });
  return element("details", { open: true }, words.said("summary", "receipt_details"), list, note);
}
