import { LoadError } from "../survey/errors.js";
import { MECHANISMS } from "../survey/mechanisms/index.js";
import { RANDOMIZERS } from "../device/randomizers/index.js";

const ASKED = new Map();
const ARRIVED = new Map();
const FAILURES = new Map();

/**
 * What a later part of the page exports, asked for once: "later", what comes after the first step; "rarer" and
 * "repeated", what few surveys need; "aside", what few people open. When all but the last are asked for depends on the
 * survey alone.
 *
 * @throws {LoadError} it did not arrive; calling again tries again
 */
export async function load(part) {
  if (!ASKED.has(part)) ASKED.set(part, fetchPart(part));
  return ASKED.get(part);
}

/** What the parts export that are there already, by name. */
export function arrived() {
  return Object.fromEntries(ARRIVED);
}

async function fetchPart(part) {
  // Browsers may remember that a script could not be loaded, so each further try has an address of its own.
  const failures = FAILURES.get(part) ?? 0;
  const again = failures ? `?${failures}` : "";
  try {
    const exported = (await import(`./${part}.js${again}`))[part.toUpperCase()];
    for (const [mechanism, randomizer] of exported.mechanisms ?? []) {
      MECHANISMS.set(mechanism.mechanismName, mechanism);
      RANDOMIZERS.set(mechanism.mechanismName, randomizer);
    }
    ARRIVED.set(part, exported);
    return exported;
  } catch {
    FAILURES.set(part, failures + 1);
    ASKED.delete(part);
    throw new LoadError();
  }
}
