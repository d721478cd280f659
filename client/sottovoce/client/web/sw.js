/**
 * The page for people without a connection: what was last served, the same for everybody, and nothing else.
 *
 * `VERSION`, `FILES`, the page first, and `USED` are written before this by page.py. Only `offline.js` adds to what is
 * kept, and only the survey and the sentences. What is sent never passes here.
 */
const CACHE = `sottovoce-page-${VERSION}`;
const OWN = `/assets/${VERSION}/`;
const OTHERS = /\/assets\/([0-9a-f]{16}|catalogues)\//;

addEventListener("install", (event) => event.waitUntil(keep()));
addEventListener("activate", (event) => event.waitUntil(dropOlder()));
addEventListener("fetch", (event) => {
  if (event.request.method === "GET") event.respondWith(serve(event.request));
});

async function keep() {
  const cache = await caches.open(CACHE);
  await cache.addAll(FILES);
  await Promise.all(USED.map((part) => keepUsed(cache, part)));
  await skipWaiting();
}

// What few surveys need only where the visit has loaded it: then it is in the browser's cache.
async function keepUsed(cache, part) {
  const reply = await fetch(part, { cache: "only-if-cached", mode: "same-origin" }).catch(() => null);
  if (reply?.ok) await cache.put(part, reply);
}

async function dropOlder() {
  const older = (await caches.keys()).filter((name) => name.startsWith("sottovoce-page-") && name !== CACHE);
  await Promise.all(older.map((name) => caches.delete(name)));
  // What `offline.js` keeps is not older for being in a cache of its own, but the sentences of an older page are.
  const cache = await caches.open("sottovoce-kept");
  const outdated = (await cache.keys()).filter(({ url }) => OTHERS.test(url) && !url.includes(OWN));
  await Promise.all(outdated.map((request) => cache.delete(request)));
}

// The network first, so that a newer page replaces an old one. A server of another release has not got
// this page's parts; what is kept under their name, which holds their digest, is what it would have given.
async function serve(request) {
  const reply = await fetch(request).catch(() => null);
  if (reply !== null && (reply.ok || !request.url.includes(OWN))) return reply;
  const cached = request.mode === "navigate" ? FILES[0] : request;
  return (await caches.match(cached, { ignoreSearch: true, ignoreVary: true })) ?? reply ?? Response.error();
}
