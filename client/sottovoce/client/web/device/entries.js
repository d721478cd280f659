// In the place of the wave in a key: what is remembered for all of them.
const MEMO = -1;
// Under no invitation: whose signatures were asked for.
const SIGNERS = -3;
/** What becomes of an entry that is not to be seen here. */
export const FORGOTTEN = { body: null, ended: "forgotten" };

/** Under which key lies the text of a survey. */
export function surveyKey(digest) {
  return ["survey", digest];
}

/** Under which key lies what is remembered for all waves, if the survey has such a question. */
export function memoKey([origin, name]) {
  // Under no invitation: with another one the same person would have a second permanent answer.
  return [origin, name, MEMO, ""];
}

/** Under which key lies whose signatures were asked for; from then on the survey is known as one with signatures. */
export function signersKey([origin, name]) {
  return [origin, name, SIGNERS, ""];
}

/** Return true if an entry holds a report without a receipt. */
export function isWaiting(entry) {
  return entry?.sent === false && typeof entry.body === "string";
}

/** Return true if the moment to send a report has not come. */
export function isEarly({ sendAt }) {
  // A report without a moment needs no clock.
  return sendAt ? sendAt > Date.now() / 1000 : false;
}

/** An entry without what only a report needs that has not arrived: its moment and its signature. */
export function withoutSignature({ sendAt: _at, signature: _signature, ...entry }) {
  return entry;
}

/** An entry once its report is acknowledged; of a survey that was left, nothing but that there was one. */
export function arrived({ refused: _, ...entry }) {
  return { ...withoutSignature(entry), sent: true, ...(entry.left && FORGOTTEN) };
}

/** Whether, for a key without a token, anything was ever drawn for the same wave with one. */
export async function personalBeside(store, [origin, survey, wave, token, ...more]) {
  if (token !== "" || more.length > 0) return false;
  const all = await below(store, [origin, survey, wave]);
  return all.some(([key]) => key.length === 4 && key[3] !== "");
}

/** The keys of reports drawn for the same wave with other tokens, and never acknowledged. */
export async function unacceptedBeside(store, [origin, survey, wave, token]) {
  const all = await below(store, [origin, survey, wave]);
  const others = all.filter(([key, entry]) => isWaiting(entry) && key[3] !== token && key[3] !== "");
  return others.map(([key]) => key);
}

/** [key, entry] of everything whose key begins with `start`: a list sorts after any text. */
export async function below(store, start) {
  const range = IDBKeyRange.bound(start, [...start, []]);
  const [keys, entries] = await Promise.all([settled(store.getAllKeys(range)), settled(store.getAll(range))]);
  return keys.map((key, index) => [key, entries[index]]);
}

// IndexedDB tells by events; here are promises.

/** What a request gives, once it has succeeded; it may still be undone with its transaction. */
export function settled(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** When all that was asked within a transaction is on the disk. */
export function completed(transaction) {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
}
