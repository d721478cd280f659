import { below, FORGOTTEN, settled, surveyKey, withoutSignature } from "./entries.js";

/**
 * Leave no word of a survey: its texts go, and a report that has arrived, then or later, is as forgotten. What was
 * drawn stays, numbers alone, so that nothing is drawn twice.
 */
export async function leaveNoWord(store, [origin, survey]) {
  for (const [key, entry] of await below(store, [origin, survey])) {
    if (entry.digest) await settled(store.delete(surveyKey(entry.digest)));
    const isReport = key.length === 4 && key[2] >= 0 && typeof entry.body === "string";
    const left = entry.sent ? { ...withoutSignature(entry), ...FORGOTTEN } : { ...entry, left: true };
    if (isReport) await settled(store.put(left, key));
  }
}
