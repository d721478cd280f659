#!/bin/sh
# Expected of the answer to a question with one choice: the option that was chosen, in its words, as the simulation of the same plugin and
# the plugin for several choices keep it.
# Seen: the option is cut at its first double quotation mark. 'I said "no"' and 'I said "stop"' are both 'I said ', and
# whoever chose "Never" in quotation marks has an empty answer, as if nothing had been chosen. Numbers of options are right.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund --ignore-scripts jspsych@8.3.0 @jspsych/plugin-survey-multi-choice@2.2.1 jsdom@26.1.0
node - <<'END'
const { JSDOM } = require("jsdom");
const dom = new JSDOM("<!doctype html><body></body>", { pretendToBeVisual: true, url: "http://localhost/" });
const events = ["Event", "KeyboardEvent", "MouseEvent", "CustomEvent"];
const names = [...events, "document", "HTMLElement", "FormData", "Element", "Node", "requestAnimationFrame"];
Object.assign(globalThis, { window: dom.window }, Object.fromEntries(names.map((name) => [name, dom.window[name]])));
const { initJsPsych } = require("jspsych");
const plugin = require("@jspsych/plugin-survey-multi-choice");
const version = (name) => `${name} ${JSON.parse(require("fs").readFileSync(`node_modules/${name}/package.json`)).version}`;
const options = ['I said "no"', 'I said "stop"', '"Never"', "Nothing was said"];
const trial = { type: plugin.default ?? plugin, questions: [{ prompt: "What happened?", name: "event", options }] };
(async () => {
  const experiment = initJsPsych({ display_element: dom.window.document.body });
  const choose = (at) => () =>
    setTimeout(() => {
      dom.window.document.querySelectorAll("form [type=radio]")[at].click();
      dom.window.document.querySelector("form [type=submit]").click();
    }, 50);
  await experiment.run(options.map((_, at) => ({ ...trial, on_load: choose(at) })));
  const kept = experiment.data.get().values().map(({ response, response_index }) => [response.event, response_index[0]]);
  const simulated = initJsPsych({ display_element: dom.window.document.body });
  await simulated.simulate(Array(40).fill(trial), "data-only");
  const whole = simulated.data.get().values().every(({ response }) => options.includes(response.event));
  console.log(version("jspsych"), version("@jspsych/plugin-survey-multi-choice"));
  console.log("chosen:", options, "kept, with the number of the option:", JSON.stringify(kept), "whole in a simulation:", whole);
  const cut = [["I said ", 0], ["I said ", 1], ["", 2], ["Nothing was said", 3]];
  process.exit(JSON.stringify(kept) === JSON.stringify(cut) && whole ? 0 : 1);
})();
END
