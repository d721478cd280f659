import { button, element } from "./dom.js";
import { EXIT_SENTENCES } from "../survey/sentences/exit.js";
import { leaveNoWord } from "../device/leave_no_word.js";
import { pause } from "../device/transport.js";

const PRESSES = 3;
// For which the hidden page may wait for the browser to forget.
const SECONDS_TO_FORGET = 0.5;
// A page of the same server, as on any wall; a page from a file can only give way to an empty one.
const NEUTRAL = "/calendar";
const EMPTY = "about:blank";
const OFFERED = { exit: null };

/**
 * Offer to leave the page at once, on every step: by a button above it, and by three presses of Esc. Leaving hides the
 * page, does `forget`, leaves no word of the survey in the browser, and lets neither Back nor Forward show it again.
 * `quickExit` is where it leads, or true for a calendar; the history has as many entries with either.
 *
 * Comes back only if the page was not left before.
 */
export async function offerExit(words, view, { key, ledger }, forget, { quickExit }) {
  // Fetched now: a person who leaves waits for no network.
  const offline = import("../device/offline.js").catch(() => null);
  const uncache = () => offline.then((kept) => kept?.forgetAllOffline());
  const wipe = () => [ledger.close((store) => leaveNoWord(store, key)), uncache()];
  const exit = () => leave(forget, wipe, quickExit);
  if (history.state?.left) await exit();
  if (OFFERED.exit) return;
  words.rare.add(EXIT_SENTENCES);
  // The browser's question, dismissed, would leave the survey on the screen.
  view.asksOnce = false;
  const press = button(words.node("exit"), "primary", exit);
  press.title = "3 × Esc";
  press.style.paddingInline = ".8rem";
  OFFERED.exit = rowOf(press, document.getElementById("header"));
  document.body.prepend(OFFERED.exit);
  // What takes the focus does not end up behind it.
  document.documentElement.style.scrollPaddingBlockStart = "5rem";
  onPresses("Escape", exit);
  // Every step, as the questions always are.
  document.addEventListener("visibilitychange", () => {
    document.body.style.filter = document.hidden ? "blur(1rem)" : "";
  });
}

// The button shares its row with the choice of a language: a row of its own would push Begin out of a phone's window.
function rowOf(press, header) {
  const row = element("div", {}, press, header);
  const shape = "display:flex;flex-wrap:wrap;gap:.5rem 1rem;max-inline-size:42rem;margin-inline:auto";
  const look = "padding:.25rem clamp(1rem,5vw,2rem);background:var(--paper)";
  row.style.cssText = `position:sticky;inset-block-start:0;z-index:1;${shape};${look}`;
  header.style.cssText = "flex:1;margin:0;padding:0;min-block-size:0";
  document.querySelector("main").style.paddingBlockStart = ".25rem";
  return row;
}

// Calls `work` when a key was pressed so many times and no other key between.
function onPresses(key, work) {
  let presses = 0;
  addEventListener("keydown", (event) => {
    presses = event.key === key ? presses + 1 : 0;
    if (presses === PRESSES) work();
  });
}

async function goToFirst() {
  const { behind = 0 } = history.state ?? {};
  if (behind === 0) return;
  const arrived = new Promise((go) => addEventListener("popstate", go, { once: true }));
  history.go(-behind);
  await arrived;
}

// Back to the first entry of this visit; it and all that follow it then lead to the neutral page.
async function leave(forget, wipe, to) {
  document.body.replaceChildren();
  document.title = "";
  forget();
  await Promise.race([Promise.allSettled(wipe()), pause(SECONDS_TO_FORGET)]);
  await goToFirst();
  try {
    history.replaceState(null, "", NEUTRAL);
    history.pushState(null, "", NEUTRAL);
    location.replace(to === true ? NEUTRAL : to);
  } catch {
    history.replaceState({ left: true }, "");
    history.pushState({ left: true }, "");
    location.replace(to === true ? EMPTY : to);
  }
  // Nothing follows on a page that was left.
  await new Promise(() => {});
}
