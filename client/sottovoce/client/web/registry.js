// What the page is made of, by name. It comes in parts, and each part adds its entries here as it arrives; code
// that needs one asks for it by its name. Only this file and the folder `bundles/` know which part holds what.

/** The mechanisms, by the name that the canonical survey carries. */
export const MECHANISMS = new Map();

/** The randomizers, (mechanism, value, draws, memo) -> reported value, by mechanism; as many as in `MECHANISMS`. */
export const RANDOMIZERS = new Map();

/** The question types, by the name that the canonical survey carries. */
export const TYPES = new Map();

/** What reads an item that is not one question, by the item's type: see `parse_item.js`. */
export const ITEM_TYPES = new Map();

/** What makes the control of a question, by the kind of its true values: see `choice_input.js`. */
export const INPUTS = new Map();

/** What shows an item that is no question, by the item's type: see `notes.js`. */
export const ITEM_VIEWS = new Map();

/** What says a reported value that does not look like an answer, by the report's kind: see `value_words.js`. */
export const VALUE_WORDS = new Map();

/** Everything else that a later part brings, functions and classes by their own names. */
export const PROVIDED = new Map();

const REGISTRIES = {
  mechanisms: MECHANISMS,
  randomizers: RANDOMIZERS,
  types: TYPES,
  itemTypes: ITEM_TYPES,
  inputs: INPUTS,
  itemViews: ITEM_VIEWS,
  valueWords: VALUE_WORDS,
  provided: PROVIDED,
};

// What is neither here yet nor named below is in the part of the rarer mechanisms and types.
const REST = "more_types";
const HELD_BY = new Map([
  ["StepsFlow", "answering"],
  ["languageChoice", "answering"],
  ["aboutStudy", "extras"],
  ["checkStep", "extras"],
  ["confirmStep", "extras"],
  ["consentStep", "extras"],
  ["endedStep", "extras"],
  ["howItWorks", "extras"],
  ["limitsList", "extras"],
  ["saveCopy", "extras"],
  ["savePagePart", "extras"],
  ["plainReceiptStep", "returning"],
  ["refusedStep", "returning"],
  ["revisionOf", "returning"],
  ["samePersonStep", "returning"],
  ["surveyDrawnFor", "returning"],
  ["AnswerPath", "sending"],
  ["receiptStep", "sending"],
  ["sendWaiting", "sending"],
  ["tellParent", "sending"],
  ["blindNotes", "blind"],
  ["forgetSignature", "blind"],
  ["laterStep", "blind"],
  ["readBlind", "blind"],
  ["redeem", "blind"],
  ["redemptionKey", "blind"],
  ["signedId", "blind"],
  ["checkMemo", "waves"],
  ["keepAsked", "waves"],
  ["keepMemo", "waves"],
  ["memoized_rr", "waves"],
  ["readWaves", "waves"],
  ["wavesNotes", "waves"],
]);

// A page in one file holds everything: nothing further arrives.
const SOURCE = { fetchPart: async () => ({}) };
const COMING = new Map();

/** Know the entries of a part: for each registry those by name. */
export function provide(part) {
  for (const [registry, entries] of Object.entries(part)) {
    for (const [name, entry] of Object.entries(entries)) REGISTRIES[registry].set(name, entry);
  }
}

/** How a later part is had, by its name: `fetchPart` gives what `provide` takes, or rejects. */
export function laterPartsFrom(fetchPart) {
  SOURCE.fetchPart = fetchPart;
}

/**
 * The entry with this name, its part fetched, once, where it is not here yet; undefined where there is none.
 *
 * Which names are asked for depends on the survey and on what a person opens, never on an answer.
 *
 * @throws {LoadError} the part did not arrive; asking again tries again
 */
export async function need(name, registry = PROVIDED) {
  if (!registry.has(name)) await arrivalOf(HELD_BY.get(name) ?? REST);
  return registry.get(name);
}

/** The entry with this name, where `need` has seen to it before. */
export function provided(name) {
  return PROVIDED.get(name);
}

function arrivalOf(part) {
  if (!COMING.has(part)) {
    const arrival = SOURCE.fetchPart(part).then(provide);
    COMING.set(part, arrival);
    arrival.catch(() => COMING.delete(part));
  }
  return COMING.get(part);
}
