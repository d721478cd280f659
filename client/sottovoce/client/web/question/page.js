import { startFrame } from "./frame.js";
import { startWindow } from "./window.js";

/** Ask in the way in which this page was opened: yes or no, and one of some options. */
export function startPage() {
  const sentences = JSON.parse(document.getElementById("sentences").textContent);
  if (parent === window) startWindow(sentences);
  else startFrame(sentences);
}
