import { RARE_VIEWS } from "../form/choice_input.js";
import { numberInput } from "../form/number_input.js";
import { bringBlocks } from "./block.js";
import { bringEveryMechanism } from "./every_mechanism.js";
import { startPage } from "./page.js";

/** As `startPage`, for every question, and for those that are randomized together. */
export function startBlockPage() {
  bringEveryMechanism();
  bringBlocks();
  RARE_VIEWS.numberInput = numberInput;
  startPage();
}
