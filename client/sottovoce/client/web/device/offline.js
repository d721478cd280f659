const KEPT = "sottovoce-kept";

/**
 * Keep the page and these addresses, a survey and the page's sentences, for visits without a connection.
 *
 * They are the same for everybody; no report and no answer is ever among them. Does nothing where there are no service
 * workers, such as in a page opened from a file.
 */
export async function keepOffline(addresses) {
  await navigator.serviceWorker?.register("sw.js", { updateViaCache: "none" });
  const cache = await globalThis.caches?.open(KEPT);
  await cache?.addAll(addresses.map((address) => new Request(address, { credentials: "omit", cache: "reload" })));
}

/** Forget that this survey was ever opened here: what lies under any of its addresses. */
export async function forgetOffline(addresses) {
  const cache = await globalThis.caches?.open(KEPT);
  await Promise.all(addresses.map((address) => cache?.delete(address)));
}
