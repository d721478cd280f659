#!/bin/sh
# Expected of a question "which of these do you use?" with several boxes of one name: all boxes that were ticked.
# Seen: the data keep the last one only, for boxes and for a list in which several can be chosen; a box that was left alone is
# absent from the record, not false. The plugin for several choices keeps all of them.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund --ignore-scripts jspsych@8.3.0 @jspsych/plugin-survey-html-form@2.1.0 jsdom@26.1.0
node - <<'END'
const { JSDOM } = require("jsdom");
const { window } = new JSDOM("<!doctype html><body></body>", { pretendToBeVisual: true, url: "http://localhost/" });
const names = ["document", "HTMLElement", "Event", "KeyboardEvent", "MouseEvent", "CustomEvent", "FormData", "Element", "Node", "requestAnimationFrame"];
Object.assign(globalThis, { window }, Object.fromEntries(names.map((name) => [name, window[name]])));
const { initJsPsych } = require("jspsych");
const plugin = require("@jspsych/plugin-survey-html-form");
const html =
  '<input type=checkbox name=uses value=tea checked><input type=checkbox name=uses value=coffee checked>' +
  "<select name=lives multiple><option selected>town</option><option selected>village</option></select>" +
  "<input type=checkbox name=agrees value=yes>";
const version = (name) => `${name} ${JSON.parse(require("fs").readFileSync(`node_modules/${name}/package.json`)).version}`;
(async () => {
  const experiment = initJsPsych({ display_element: window.document.body });
  const on_load = () => setTimeout(() => window.document.querySelector("form [type=submit]").click(), 50);
  await experiment.run([{ type: plugin.default ?? plugin, html, on_load }]);
  const seen = JSON.stringify(experiment.data.get().values()[0].response);
  console.log(version("jspsych"), version("@jspsych/plugin-survey-html-form"));
  console.log("tea and coffee, town and village, consent left alone:", seen);
  process.exit(seen === '{"uses":"coffee","lives":"village"}' ? 0 : 1);
})();
END
