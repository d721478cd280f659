import { bringBlocks } from "./block.js";
import { startFrame } from "./frame.js";

/** As `startFrame`, for questions that are randomized together. */
export function startBlockFrame() {
  bringBlocks();
  startFrame();
}
