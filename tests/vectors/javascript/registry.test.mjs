import assert from "node:assert/strict";
import { test } from "node:test";

import { product } from "./product.mjs";

const { ITEM_TYPES, LoadError, MECHANISMS, PROVIDED, TYPES, laterPartsFrom, need, provide } = product;
const REGISTRIES = { mechanisms: MECHANISMS, types: TYPES, itemTypes: ITEM_TYPES, provided: PROVIDED };
const LATER = ["answering", "more_types", "waves", "extras", "returning"];
const entriesOf = (part) =>
  Object.entries(REGISTRIES).flatMap(([kind, registry]) =>
    Object.entries(product[part.toUpperCase()][kind] ?? {}).map(([name, entry]) => [name, registry, entry]),
  );

function forgetAll() {
  for (const registry of Object.values(REGISTRIES)) registry.clear();
}

test("whatever a later part holds is asked of that part, again after each failure", async () => {
  forgetAll();
  const asked = [];
  laterPartsFrom(async (part) => {
    asked.push(part);
    throw new LoadError();
  });
  for (const part of LATER) {
    for (const [name, registry] of entriesOf(part)) {
      await assert.rejects(need(name, registry), { code: "load" });
      assert.equal(asked.at(-1), part, name);
    }
  }
  assert.equal(asked.length, LATER.flatMap(entriesOf).length);
});

test("a part that arrives is asked for once and brings all its entries", async () => {
  forgetAll();
  const asked = [];
  laterPartsFrom(async (part) => {
    asked.push(part);
    return product[part.toUpperCase()];
  });
  for (const part of LATER) {
    const entries = entriesOf(part);
    const found = await Promise.all(entries.map(([name, registry]) => need(name, registry)));
    assert.deepEqual(found, entries.map(([, , entry]) => entry));
  }
  assert.deepEqual(asked, LATER);
  assert.equal(await need("no such thing"), undefined);
});

test("no two parts hold the same entry, and a mechanism bears its own name", () => {
  const names = ["main", ...LATER].flatMap((part) => Object.entries(product[part.toUpperCase()])).flatMap(([kind, entries]) =>
    Object.keys(entries).map((name) => `${kind} ${name}`),
  );
  assert.deepEqual(names, [...new Set(names)]);
  forgetAll();
  for (const part of ["main", ...LATER]) provide(product[part.toUpperCase()]);
  for (const [name, mechanism] of MECHANISMS) assert.equal(mechanism.mechanismName, name);
  assert.deepEqual([...product.RANDOMIZERS.keys()].sort(), [...MECHANISMS.keys()].sort());
});
