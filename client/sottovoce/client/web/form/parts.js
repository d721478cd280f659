import { LoadError } from "../survey/errors.js";

// A page in one file holds everything: nothing further arrives.
const SOURCE = { fetchModule: () => Promise.reject(new LoadError()) };
const COMING = new Map();
const FAILURES = new Map();

/** How later parts of the page are had: `fetchModule` gives the module in a file. */
export function laterPartsFrom(fetchModule) {
  SOURCE.fetchModule = fetchModule;
}

/**
 * What a later part of the page exports, its file fetched once. bundle.py writes this in the place of `import(...)`.
 *
 * Which parts are asked for depends on the survey and on what a person opens, never on an answer.
 *
 * @throws {LoadError} the part did not arrive; asking again tries again
 */
export function arriving(part) {
  if (!COMING.has(part)) {
    const arrival = fetchPart(part);
    COMING.set(part, arrival);
    arrival.catch(() => COMING.delete(part));
  }
  return COMING.get(part);
}

async function fetchPart(part) {
  // Browsers may remember that a script could not be loaded, so each further try has an address of its own.
  const failures = FAILURES.get(part) ?? 0;
  const again = failures ? `?${failures}` : "";
  try {
    return await SOURCE.fetchModule(`${part}.js${again}`);
  } catch {
    FAILURES.set(part, failures + 1);
    throw new LoadError();
  }
}
