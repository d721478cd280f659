import { button, element } from "./dom.js";

const PRESSES = 3;
// A page of the same server that says nothing of surveys; a page from a file can only give way to an empty one.
const NEUTRAL = "/empty";
const EMPTY = "about:blank";
const OFFERED = { exit: null };

/**
 * Offer to leave the page at once, on every step: by a button above it, and by three presses of Esc. Leaving hides the
 * page, does `forget`, and lets neither Back nor Forward show the survey again.
 *
 * Comes back only if the page was not left before.
 */
export async function offerExit(words, view, forget) {
  if (history.state?.left) await leave(forget);
  if (OFFERED.exit) return;
  // The browser's question, dismissed, would leave the survey on the screen.
  view.asksOnce = false;
  const exit = () => leave(forget);
  OFFERED.exit = element("div", {}, button(words.node("exit"), "primary", exit));
  OFFERED.exit.style.cssText = "position:sticky;inset-block-start:0;z-index:1;padding:.5rem;background:var(--paper)";
  document.body.prepend(OFFERED.exit);
  onPresses("Escape", exit);
  // What shows the open pages side by side makes a picture of a page that is hidden.
  document.addEventListener("visibilitychange", () => {
    document.body.style.filter = document.hidden ? "blur(1rem)" : "";
  });
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
async function leave(forget) {
  document.body.replaceChildren();
  document.title = "";
  forget();
  await goToFirst();
  try {
    history.replaceState(null, "", NEUTRAL);
    history.pushState(null, "", NEUTRAL);
    location.replace(NEUTRAL);
  } catch {
    history.replaceState({ left: true }, "");
    history.pushState({ left: true }, "");
    location.replace(EMPTY);
  }
  // Nothing follows on a page that was left.
  await new Promise(() => {});
}
