// Runs the core of a single question through all branches of its draws, and prints the distribution of its records.
//
// In:   { question, answers, most }
// Out:  for each answer [[record, bounds, "part/whole"]]; null if the core throws, whose reason could repeat an answer
import { readFileSync } from "node:fs";

import { distributionOf, inOrder } from "./javascript_distributions.mjs";

const { question, answers, most } = JSON.parse(readFileSync(0, "utf-8"));
const print = process.stdout.write.bind(process.stdout);
const { randomize } = await import("./core.js");
const follow = (answer) => distributionOf((draws) => randomize(question, answer, { draws }), most);
print(JSON.stringify(await inOrder(answers, follow).catch(() => null)));
