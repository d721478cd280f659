import { askedBy, whenInWords } from "../phrases.js";
import { button, element, row, titled } from "../dom.js";
import { isToRedeem, redeem } from "../../device/redemption.js";
import { longestWait } from "../../device/waiting.js";
import { WAITING_SENTENCES } from "../../survey/sentences/waiting.js";
import { heardSoon, isShut } from "../standing.js";

/**
 * Step shown while a report waits for its moment: `on.end` is called with "withdraw" or "forget". If this is still
 * what the page shows when the moment comes, `on.again` sends the report.
 */
export function laterStep(_survey, words, { sendAt }, on) {
  words.rare.add(WAITING_SENTENCES);
  const moment = `${new Date(sendAt * 1000).toISOString().slice(0, 19)}Z`;
  const note = words.line("p", "later_note", () => ({ date: whenInWords(moment, words) }), { className: "lead" });
  const actions = ["withdraw", "forget"].map((how) => button(words.node(how), "", () => on.end(how)));
  const step = titled({ id: "later" }, words.node("later_title"), note, row(...actions));
  setTimeout(() => step.node.isConnected && on.again(), sendAt * 1000 - Date.now());
  return step;
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

/**
 * Have an invitation signed, then `goOn`. Before the first request to sign, a person presses a button on a step of its
 * own: a program that only looks at links would use the invitation up. That is long before the questions, because the
 * time from a request at Begin to the one at Send would show how many were asked. Nothing is signed where `found`, its
 * standing, comes soon and says that the survey takes no answers.
 */
export async function openInvitation(respondent, words, view, found, goOn) {
  const { survey } = respondent;
  const open = async () => {
    const standing = await heardSoon(found);
    if (!standing || !isShut(standing.status)) await redeem(respondent);
    await goOn();
  };
  if (!(await isToRedeem(respondent))) return open();
  const press = () => {
    view.busy("status_checking");
    return view.guarded(open, { later: press });
  };
  const start = words.text("h1", survey.title, { tabIndex: -1 });
  const note = words.line("p", "link_once");
  const actions = row(button(words.node("link_open"), "primary", press));
  const node = element("div", { id: "invitation" }, askedBy(survey, words) ?? "", start, note, actions);
  view.show({ node, start }, false);
}
