import { LoadError } from "./errors.js";
import { MECHANISMS } from "./mechanisms/index.js";

const TRIED = { later: null, failures: 0 };

/**
 * `LATER`, from the page's second file, which is asked for once. When that happens depends on the survey alone.
 *
 * @throws {LoadError} it did not arrive; calling again tries again
 */
export function load() {
  TRIED.later ??= fetchLater();
  return TRIED.later;
}

async function fetchLater() {
  // Browsers may remember that a script could not be loaded, so each further try has an address of its own.
  const again = TRIED.failures ? `?${TRIED.failures}` : "";
  try {
    const { LATER } = await import(`./later.js${again}`);
    for (const mechanism of LATER.RARER) MECHANISMS.set(mechanism.mechanismName, mechanism);
    return LATER;
  } catch {
    TRIED.failures += 1;
    TRIED.later = null;
    throw new LoadError();
  }
}
