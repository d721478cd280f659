/**
 * Which questions of a form ODK's engine shows, for each of many combinations of answers.
 *
 * Reads {xml, answers: [{name: text, number, list of options or null}]} and writes the names that are relevant, one
 * list for each combination.
 */
import { readFileSync } from "node:fs";
import { JSDOM } from "jsdom";

const { window } = new JSDOM("<!doctype html>", { url: "https://form.example" });
for (const name of Object.getOwnPropertyNames(window)) {
  if (!(name in globalThis)) globalThis[name] = window[name];
}
globalThis.window = window;

// The engine's build takes the files of its parser from data: addresses only where it finds no node.
const { process } = globalThis;
delete globalThis.process;
const { createInstance } = await import("@getodk/xforms-engine");
globalThis.process = process;
const { xml, answers } = JSON.parse(readFileSync(0, "utf-8"));
const { root } = await createInstance(xml);
const nodes = new Map();
const collect = (node) => {
  for (const child of node.currentState.children ?? []) {
    nodes.set(child.currentState.reference.split("/").at(-1), child);
    if (child.nodeType === "group") collect(child);
  }
};
collect(root);

const set = (node, value) => {
  if (node.nodeType !== "select") node.setValue(value);
  else if (Array.isArray(value)) node.selectValues(value);
  else node.selectValue(value);
};
const shown = answers.map((given) => {
  for (const [name, value] of Object.entries(given)) {
    if (nodes.get(name).currentState.relevant) set(nodes.get(name), value);
  }
  return [...nodes].filter(([, node]) => node.currentState.relevant).map(([name]) => name);
});
process.stdout.write(JSON.stringify(shown));
