/**
 * The page for people without a connection: what was last served, the same for everybody, and nothing else.
 *
 * `VERSION` and `FILES`, the page first, are written before this by page.py. Only `offline.js` adds to what is kept,
 * and only the survey and the sentences. What is sent never passes here.
 */
const CACHE = `sottovoce-page-${VERSION}`;

addEventListener("install", (event) => event.waitUntil(keep()));
addEventListener("activate", (event) => event.waitUntil(dropOlder()));
addEventListener("fetch", (event) => {
  if (event.request.method === "GET") event.respondWith(serve(event.request));
});

async function keep() {
  const cache = await caches.open(CACHE);
  await cache.addAll(FILES.map((file) => new Request(file, { cache: "reload" })));
  await skipWaiting();
}

async function dropOlder() {
  const older = (await caches.keys()).filter((name) => name.startsWith("sottovoce-page-") && name !== CACHE);
  await Promise.all(older.map((name) => caches.delete(name)));
}

// The network first: nobody is shown an old page where a newer one can be had.
async function serve(request) {
  try {
    return await fetch(request);
  } catch {
    const kept = request.mode === "navigate" ? FILES[0] : request;
    return (await caches.match(kept, { ignoreSearch: true, ignoreVary: true })) ?? Response.error();
  }
}
