// Runs analysis.R of a folder in R itself, compiled for node, so that no R needs to be installed: node run.mjs FOLDER
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import { WebR } from "webr";

const [folder] = process.argv.slice(2);
const webR = new WebR({ interactive: false });
await webR.init();
await webR.FS.mkdir("/survey");
for (const name of fs.readdirSync(folder)) {
  await webR.FS.writeFile(`/survey/${name}`, new Uint8Array(fs.readFileSync(path.join(folder, name))));
}
const shelter = await new webR.Shelter();
const run = "setwd('/survey'); source('analysis.R')";
const { output } = await shelter.captureR(run, { withAutoprint: false, captureConditions: false });
for (const { data } of output) {
  process.stdout.write(`${data}\n`);
}
webR.close();
