import { button, element, heading } from "../dom.js";
import { longestWait } from "../../device/waiting.js";
import { whenInWords } from "../phrases.js";
import { WAITING_SENTENCES } from "../waiting_sentences.js";

/**
 * Step shown while a report waits for its moment: `on.end` is called with "withdraw" or "forget". If this is still
 * what the page shows when the moment comes, `on.again` sends the report.
 */
export function laterStep(_survey, words, { sendAt }, on) {
  words.rare.add(WAITING_SENTENCES);
  const start = heading(1, words.node("later_title"));
  const moment = `${new Date(sendAt * 1000).toISOString().slice(0, 19)}Z`;
  const note = words.line("p", "later_note", () => ({ date: whenInWords(moment, words) }), { className: "lead" });
  const actions = ["withdraw", "forget"].map((how) => button(words.node(how), "", () => on.end(how)));
  const row = element("div", { className: "actions" }, ...actions);
  const node = element("div", { id: "later" }, start, note, row);
  setTimeout(() => node.isConnected && on.again(), sendAt * 1000 - Date.now());
  return { node, start };
}

/** What the first step says of who sees what, where reports come with a signature, or wait. */
export function blindNotes(survey, words, wave = 0) {
  words.rare.add(WAITING_SENTENCES);
  const { isBlind, document } = survey;
  const { send_at_seconds: seconds, send_within_hours: hours } = document.privacy;
  // In the last minutes of a wave nothing waits, so no wait is promised.
  const waits = longestWait(survey, wave) > 0;
  const seen = isBlind ? ["seen_blind", ...(waits ? [] : ["seen_blind_now"])] : [];
  const notes = seen.map((sentence) => words.line("p", sentence));
  return waits ? [...notes, words.line("p", seconds ? "explain_moment" : "explain_later", { hours, seconds })] : notes;
}
