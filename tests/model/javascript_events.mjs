// Lets events happen to the browser's client, one order and one reply in each line: a long life for many short ones.
//
// First: { scripts, scenarios: { name: { versions: [texts, oldest first], answers: by truth } }, most }
// Then:  { scenario, event, truth, files, stored, spent, revised, token, names }
//        -> [runs, new texts, [[[happened, kills, looked, timed], bounds, "part/whole"] for each way of the coins]]:
//        what `happen` gives, with the number of a text for each thing that happened, counted from the first reply on.
//        That text is [files, stored, spent, revised, token, wire, killed], again with numbers of texts: the same few
//        records, bodies and states come again and again.
//        or { files } -> what the ledger says is spent
// What cannot be followed is told as null: the reason could repeat a value.
import { createInterface } from "node:readline";

import { distributionOf } from "./javascript_distributions.mjs";
import { loadProduct } from "./javascript_model_product.mjs";
import { remembering } from "./javascript_remembered.mjs";
import { charged, happen } from "./javascript_world.mjs";

const print = process.stdout.write.bind(process.stdout);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const { scripts, scenarios, most } = JSON.parse((await lines.next()).value);
globalThis.remembering = remembering;
const { product } = await loadProduct(scripts);

// The numbers of what was told, texts and the rest, which is known by its JSON; and what no reply has told yet.
const told = { texts: new Map(), others: new Map(), fresh: [] };

function numberOf(value) {
  const [known, key] = typeof value === "string" ? [told.texts, value] : [told.others, JSON.stringify(value)];
  let number = known.get(key);
  if (number === undefined) {
    number = told.texts.size + told.others.size;
    known.set(key, number);
    told.fresh.push(value);
  }
  return number;
}

function spelled({ files, stored, spent, revised, token, wire, killed }) {
  const [onDisk, held, used, passed] = [files, stored, spent, wire].map((rows) => rows.flat().map(numberOf));
  return numberOf(JSON.stringify([onDisk, held, used, revised, token, passed, killed]));
}

async function replyTo(order) {
  if (order.event === undefined) return JSON.stringify(await charged(product, order.files));
  let runs = 0;
  const run = async (draws) => {
    runs += 1;
    const [happened, kills, ...seen] = await happen(product, scenarios[order.scenario], order, draws);
    return [spelled(happened), kills.map(spelled), ...seen];
  };
  const ways = await distributionOf(run, most);
  return JSON.stringify([runs, told.fresh.splice(0), ways]);
}

for (let line; !(line = await lines.next()).done; ) {
  const reply = await replyTo(JSON.parse(line.value)).catch(() => "null");
  print(`${reply}\n`);
}
