import { MECHANISMS, RARE_READERS, RARE_SENTENCES, TYPES, isDelayed } from "./known.js";

const MEMOIZED = "memoized_rr";
const COMMON = [...MECHANISMS.keys(), ...TYPES.keys(), MEMOIZED, undefined];
const RULES = ["anchor", "any_of", "procedure", "visible_if", "when_absent"];

const isProcedure = (item) => item?.procedure;
const isSampled = ({ ask, questions }) => [{ ask }, questions].flat().some((each) => each?.ask !== undefined);

/** Which documents need what is brought only for them; in this order. */
const BROUGHT = [
  [(document) => isRare(document), bringRare],
  [({ after }) => after?.screen_out, async () => add(await import("./screen_out.js"))],
  [(document, names) => isSampled(document) || "waves" in document || names.includes(MEMOIZED), bringWaves],
  [isSampled, bringSample],
  [(_, names) => names.includes("joint_rr"), async () => add(await import("./blocks.js"))],
  [({ questions }) => [questions].flat().some(isProcedure), bringByHand],
  [({ privacy }) => privacy?.procedure === "own_coin", async () => add(await import("./own_coin.js"))],
  // Any key that has to do with orders or arms, wherever it stands; a text that looks like one does no harm.
  [(document) => /"(keep_last|order)"/.test(JSON.stringify(document)), bringOrders],
  [(document) => /"(by_)?arm/.test(JSON.stringify(document)), bringArms],
  // With it comes the step that is shown while a report waits.
  [
    ({ access, privacy }) => typeof access === "object" || isDelayed(privacy),
    async () => add(await import("./redemption.js")),
  ],
];

/** Have all that reads this document, which may be no survey. */
export async function bringReaders(document) {
  const names = namesIn(document);
  for (const [needs, bring] of BROUGHT) if (needs(document, names)) await bring();
}

async function bringOrders() {
  add(await import("./order/order.js"));
}

async function bringSample() {
  add(await import("./asked.js"));
}

async function bringArms() {
  await bringSample();
  add(await import("./arms/arms.js"));
}

function add(readers) {
  Object.assign(RARE_READERS, readers);
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
  add(await import("./more_items.js"));
}

async function bringByHand() {
  (await import("./by_hand/innocuous.js")).bringInnocuous();
}

async function bringWaves() {
  const { MemoizedRR } = await import("./mechanisms/memoized_rr.js");
  MECHANISMS.set(MemoizedRR.mechanismName, MemoizedRR);
  add(await import("./waves.js"));
  const { WAVE_SENTENCES } = await import("./sentences/wave.js");
  RARE_SENTENCES.add(WAVE_SENTENCES);
}
