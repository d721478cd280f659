// The page's service worker: every request that the page makes passes it, and it has a memory of its own.
import { createContext, runInContext } from "node:vm";

const ADDRESS = "https://audit.invalid/";
const METHODS = ["GET", "POST", "PUT", "HEAD"];
// What the network says: a file, a refusal, nothing.
const REPLIES = [() => ({ ok: true }), () => ({ ok: false }), () => Promise.reject(new TypeError())];
const EVENTS = 3;

/**
 * Whether this script lets everything pass but requests for what is the same for everybody; these it may ask for as
 * they are, once, with nothing changed, and answer from what it kept when it was installed.
 */
export async function isServiceable(text) {
  try {
    for (const reply of REPLIES) if (!(await isModest(text, reply))) return false;
    return true;
  } catch {
    return false;
  }
}

// With no more than this to reach: whatever else it looks for is not there, and it fails.
async function isModest(text, reply) {
  const [made, listeners] = [[], new Map()];
  const kept = { addAll: async () => {}, keys: async () => [], match: async () => undefined };
  const keys = async () => ["sottovoce-page-before"];
  const caches = { ...kept, keys, open: async () => kept, delete: async () => true };
  const fetch = async (...given) => (made.push(given), reply());
  const addEventListener = (type, work) => listeners.set(type, work);
  const [Request, Response, skipWaiting] = [class {}, { error: () => ({}) }, async () => {}];
  runInContext(text, createContext({ addEventListener, caches, fetch, Request, Response, skipWaiting }));
  // While it is installed it may look for its own parts in the browser's cache, which asks nobody, and keep them.
  kept.put = async () => {};
  for (const type of ["install", "activate"]) await happen(listeners.get(type), {});
  delete kept.put;
  let isRight = made.every(isFromCache) && listeners.size === EVENTS;
  for (const method of METHODS) isRight &&= await isLeft(listeners.get("fetch"), method, made);
  return isRight;
}

function isFromCache([part, options]) {
  const { cache, mode, ...more } = options ?? {};
  const isCacheOnly = cache === "only-if-cached" && mode === "same-origin" && Object.keys(more).length === 0;
  return isCacheOnly && String(part).startsWith("../assets/");
}

async function isLeft(serve, method, made) {
  made.length = 0;
  const request = Object.freeze({ method, url: `${ADDRESS}${method}`, mode: "cors" });
  const replies = await happen(serve, { request });
  if (method !== "GET") return replies.length + made.length === 0;
  return made.length === 1 && made[0].length === 1 && made[0][0] === request;
}

async function happen(listener, event) {
  const [waiting, replies] = [[], []];
  listener({ ...event, waitUntil: (work) => waiting.push(work), respondWith: (reply) => replies.push(reply) });
  await Promise.all([...waiting, ...replies]);
  return replies;
}
