import { bringEverything } from "./block.js";
import { startPage } from "./page.js";

/** As `startPage`, for every question, and for those that are randomized together. */
export function startBlockPage() {
  bringEverything();
  startPage();
}
