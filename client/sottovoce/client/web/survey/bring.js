import { MECHANISMS, RARE_READERS, RARE_SENTENCES, TYPES, isDelayed } from "./known.js";

const MEMOIZED = "memoized_rr";
const COMMON = [...MECHANISMS.keys(), ...TYPES.keys(), MEMOIZED, undefined];
const RULES = ["anchor", "any_of", "procedure", "visible_if", "when_absent"];

/** Have all that reads this document, which may be no survey. */
export async function bringReaders(document) {
  const { access, after, ask, privacy, questions, waves } = document;
  if (isRare(document)) await bringRare();
  if (after?.screen_out) Object.assign(RARE_READERS, await import("./screen_out.js"));
  if (ask !== undefined || waves !== undefined || namesIn(document).includes(MEMOIZED)) await bringWaves();
  if (namesIn(document).includes("joint_rr")) Object.assign(RARE_READERS, await import("./blocks.js"));
  if ([questions].flat().some((item) => item?.procedure)) (await import("./by_hand/innocuous.js")).bringInnocuous();
  if (privacy?.procedure === "own_coin") Object.assign(RARE_READERS, await import("./own_coin.js"));
  // Any key that has to do with arms or orders, wherever it stands; a text that looks like one does no harm.
  const text = JSON.stringify(document);
  if (/"(keep_last|order)"/.test(text)) Object.assign(RARE_READERS, await import("./order/order.js"));
  if (/"(by_)?arm/.test(text)) Object.assign(RARE_READERS, await import("./arms/arms.js"));
  // With it comes the step that is shown while a report waits.
  if (typeof access === "object" || isDelayed(privacy)) {
    Object.assign(RARE_READERS, await import("./redemption.js"));
  }
}

/** Whether a document names a type, a mechanism or a rule that few surveys have. */
export function isRare(document) {
  const { after, questions } = document;
  const isRuled = [questions].flat().some((item) => RULES.some((key) => item?.[key] !== undefined));
  const isOther = namesIn(document).some((name) => !COMMON.includes(name));
  return isOther || isRuled || after !== undefined;
}

// The types and mechanisms that a document names.
function namesIn({ questions }) {
  return [questions].flat().flatMap((item) => [item?.type, (item?.of ?? item)?.mechanism?.name]);
}

async function bringRare() {
  (await import("./rare.js")).bringRareKinds();
  Object.assign(RARE_READERS, await import("./more_items.js"));
}

async function bringWaves() {
  const { MemoizedRR } = await import("./mechanisms/memoized_rr.js");
  MECHANISMS.set(MemoizedRR.mechanismName, MemoizedRR);
  Object.assign(RARE_READERS, await import("./waves.js"));
  const { WAVE_SENTENCES } = await import("./wave_sentences.js");
  RARE_SENTENCES.add(WAVE_SENTENCES);
}
