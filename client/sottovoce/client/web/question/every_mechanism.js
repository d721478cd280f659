import { RANDOMIZERS } from "../device/randomize.js";
import { RARE_RANDOMIZERS } from "../device/randomizers.js";
import { MECHANISMS, RARE_READERS, TYPES } from "../survey/known.js";
import { readAbsent } from "../survey/more_items.js";
import { RARE_MECHANISMS, RARE_TYPES } from "../survey/rare.js";

/** Have every mechanism and type at once; without this there are yes or no, and one of some options. */
export function bringEveryMechanism() {
  for (const mechanism of RARE_MECHANISMS) MECHANISMS.set(mechanism.mechanismName, mechanism);
  for (const type of RARE_TYPES) TYPES.set(type.typeName, type);
  for (const [name, randomizer] of Object.entries(RARE_RANDOMIZERS)) RANDOMIZERS.set(name, randomizer);
  RARE_READERS.readAbsent = readAbsent;
}
