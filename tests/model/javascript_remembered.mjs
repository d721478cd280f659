// Surveys that were read before: the lives of devices are thousands, and all begin with the same few texts. Python's
// lives remember them as well. Whether reading does more than to give a survey shows where first events are run without
// this, and have to do the same.
import { types } from "node:util";

const MOST = 16;
const CHANGING = ["isDate", "isMap", "isPromise", "isProxy", "isRegExp", "isSet", "isWeakMap", "isWeakSet"];

/**
 * `read(bytes)`, which reads the same bytes once. What it gave is frozen all through, so that no life leaves anything
 * in it for the next; where something in it cannot be frozen, it is read anew each time.
 */
export function remembering(read) {
  const known = new Map();
  return async (bytes) => {
    const text = Buffer.from(bytes).toString("latin1");
    if (known.has(text)) return known.get(text);
    const found = await read(bytes);
    const parts = partsOf(found);
    if (known.size === MOST || !parts.every(isPlain)) return found;
    parts.forEach(Object.freeze);
    known.set(text, found);
    return found;
  };
}

// The objects of which something consists, itself among them.
function partsOf(whole) {
  const found = new Set([whole]);
  for (const part of found) {
    if (isClass(part)) continue;
    for (const { value } of propertiesOf(part)) if (Object(value) === value) found.add(value);
  }
  return [...found];
}

// Whether it is a class, such as a question's type: it is the same for every survey.
function isClass(part) {
  return typeof part === "function" && Function.prototype.toString.call(part).startsWith("class ");
}

// Whether nothing changes in it once it is frozen, nor runs when it is read.
function isPlain(part) {
  if (isClass(part)) return true;
  const isBytes = ArrayBuffer.isView(part) || types.isAnyArrayBuffer(part);
  if (typeof part !== "object" || isBytes || CHANGING.some((is) => types[is](part))) return false;
  return propertiesOf(part).every((property) => "value" in property);
}

function propertiesOf(part) {
  return Reflect.ownKeys(part).map((name) => Object.getOwnPropertyDescriptor(part, name));
}
