import { button, element, row, titled } from "../dom.js";
import { showEpsilon } from "../../survey/rational.js";
import { sentenceOf } from "../../device/transport.js";

/** What became of a report that the aggregator will not take; `on` is { again, end }: what its buttons do, or null. */
export function refusedStep(_survey, words, entry, on) {
  const reason = words.line("p", sentenceOf(entry.refused), {}, { className: "lead" });
  const again = on.again ? button(words.node("again"), "primary", on.again) : "";
  const forget = button(words.node("forget"), "", () => on.end("forget"));
  const note = on.again ? words.line("p", "final_note") : "";
  const properties = { id: "refused", className: "problem" };
  return titled(properties, words.node("final_title"), reason, note, row(again, forget));
}

/** What was sent, where the survey's own words are not to be had: the bytes. Its buttons do as those of the receipt. */
export function plainReceiptStep(_survey, words, receipt, _isEarlier, spent, onEnd) {
  const lead = words.line("p", "refused_no_words", {}, { className: "lead" });
  const list = element("dl", {});
  for (const [key, value] of [["receipt_bytes", receipt.body], ["receipt_sha256", receipt.sha256]]) {
    list.append(words.line("dt", key), element("dd", {}, element("code", { dir: "ltr", id: key }, value)));
  }
  const actions = ["withdraw", "forget"].map((how) => button(words.node(how), "", () => onEnd(how)));
  const total = words.line("p", "spent", { spent: showEpsilon(spent) });
  return titled({ id: "receipt" }, words.node("receipt_title_open"), lead, list, total, row(...actions));
}

/** Whose is the report that was drawn here, and not accepted, with another link? */
export function samePersonStep(words, onYes, onNo) {
  const note = words.line("p", "same_person_note", {}, { className: "lead" });
  const yes = button(words.node("same_person_yes"), "primary", onYes);
  const no = button(words.node("same_person_no"), "", onNo);
  const look = words.line("p", "same_person_look");
  return titled({ id: "same-person" }, words.node("same_person_title"), note, look, row(yes, no));
}
