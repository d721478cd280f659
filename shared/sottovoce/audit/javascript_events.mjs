// Lets events happen to the browser's client, one order and one reply in each line: a long life for many short ones.
//
// First: { scripts, scenarios: { name: { versions: [texts, oldest first], answers: by truth } }, most }
// Then:  { scenario, event, truth, files, stored, spent, revised, token, names }
//        -> [runs, [[[what `happen` gives, bounds of the draws], "part/whole"] for each way of the coins]]
//        or { files } -> what the ledger says is spent
// What cannot be followed is told as null: the reason could repeat a value.
import { createInterface } from "node:readline";

import { spelledLawOf } from "./javascript_laws.mjs";
import { loadProduct } from "./javascript_product.mjs";
import { remembering } from "./javascript_remembered.mjs";
import { charged, happen } from "./javascript_world.mjs";

const print = process.stdout.write.bind(process.stdout);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const { scripts, scenarios, most } = JSON.parse((await lines.next()).value);
globalThis.remembering = remembering;
const { product } = await loadProduct(scripts);

async function replyTo(order) {
  if (order.event === undefined) return JSON.stringify(await charged(product, order.files));
  let runs = 0;
  const run = (draws) => {
    runs += 1;
    return happen(product, scenarios[order.scenario], order, draws);
  };
  // What happened is long, and spelled already.
  const ways = await spelledLawOf(run, most);
  return `[${runs},[${ways.map(([way, likely]) => `[${way},"${likely}"]`)}]]`;
}

for (let line; !(line = await lines.next()).done; ) {
  const reply = await replyTo(JSON.parse(line.value)).catch(() => "null");
  print(`${reply}\n`);
}
