const KEPT = "sottovoce-kept";
const OWN = "sottovoce-";
const STATE = { left: false, registering: null };

/**
 * Keep the page, the sentences at this address, and the surveys that were received, their bytes by their addresses, for
 * visits without a connection. What this visit has fetched is not fetched again.
 *
 * They are the same for everybody; no report and no answer is ever among them. Does nothing where there are no service
 * workers, such as in a page opened from a file.
 */
export async function keepOffline(sentences, received) {
  STATE.registering = navigator.serviceWorker?.register("sw.js", { updateViaCache: "none" });
  await STATE.registering;
  if (STATE.left) return;
  const cache = await globalThis.caches?.open(KEPT);
  await cache?.add(new Request(sentences, { credentials: "omit" }));
  for (const [address, bytes] of received) await cache?.put(address, new Response(bytes));
}

/** Forget that this survey was ever opened here: what lies under any of its addresses. */
export async function forgetOffline(addresses) {
  const cache = await globalThis.caches?.open(KEPT);
  await Promise.all(addresses.map((address) => cache?.delete(address)));
}

/** Have no page of this aggregator open without a connection, and keep nothing more in this visit. */
export async function forgetAllOffline() {
  STATE.left = true;
  await STATE.registering?.catch(() => {});
  const registered = await navigator.serviceWorker?.getRegistration();
  await registered?.unregister();
  const names = (await globalThis.caches?.keys()) ?? [];
  await Promise.all(names.filter((name) => name.startsWith(OWN)).map((name) => caches.delete(name)));
}
