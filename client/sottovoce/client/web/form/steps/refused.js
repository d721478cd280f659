import { button, element, heading } from "../dom.js";
import { showEpsilon } from "../../survey/rational.js";
import { sentenceOf } from "../../device/transport.js";

/** What became of a report that the aggregator will not take; `on` is { again, end }: what its buttons do, or null. */
export function refusedStep(_survey, words, entry, on) {
  const start = heading(1, words.node("final_title"));
  const reason = words.line("p", sentenceOf(entry.refused), {}, { className: "lead" });
  const again = on.again ? button(words.node("again"), "primary", on.again) : "";
  const forget = button(words.node("forget"), "", () => on.end("forget"));
  const actions = element("div", { className: "actions" }, again, forget);
  const note = on.again ? words.line("p", "final_note") : "";
  const node = element("div", { id: "refused", className: "problem" }, start, reason, note, actions);
  return { node, start };
}

/** What was sent, where the survey's own words are not to be had: the bytes. Its buttons do as those of the receipt. */
export function plainReceiptStep(_survey, words, receipt, _isEarlier, spent, onEnd) {
  const start = heading(1, words.node("receipt_title_open"));
  const node = element("div", { id: "receipt" }, start, words.line("p", "refused_no_words", {}, { className: "lead" }));
  const list = element("dl", {});
  for (const [key, value] of [["receipt_bytes", receipt.body], ["receipt_sha256", receipt.sha256]]) {
    list.append(words.line("dt", key), element("dd", {}, element("code", { dir: "ltr", id: key }, value)));
  }
  const actions = ["withdraw", "forget"].map((how) => button(words.node(how), "", () => onEnd(how)));
  node.append(list, words.line("p", "spent", { spent: showEpsilon(spent) }));
  node.append(element("div", { className: "actions" }, ...actions));
  return { node, start };
}

/** Whose is the report that was drawn here, and not accepted, with another link? */
export function samePersonStep(words, onYes, onNo) {
  const start = heading(1, words.node("same_person_title"));
  const note = words.line("p", "same_person_note", {}, { className: "lead" });
  const yes = button(words.node("same_person_yes"), "primary", onYes);
  const no = button(words.node("same_person_no"), "", onNo);
  const row = element("div", { className: "actions" }, yes, no);
  const node = element("div", { id: "same-person" }, start, note, words.line("p", "same_person_look"), row);
  return { node, start };
}
