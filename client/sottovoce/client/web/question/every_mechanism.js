import { RANDOMIZERS } from "../device/randomize.js";
import { RARE_RANDOMIZERS } from "../device/randomizers.js";
import { bringRareKinds } from "../survey/rare.js";

/** Have every mechanism and type at once; without this there are yes or no, and one of some options. */
export function bringEveryMechanism() {
  bringRareKinds();
  for (const [name, randomizer] of Object.entries(RARE_RANDOMIZERS)) RANDOMIZERS.set(name, randomizer);
}
