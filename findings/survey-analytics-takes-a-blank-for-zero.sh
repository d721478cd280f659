#!/bin/sh
# Expected of the average that the dashboard of SurveyJS shows for a rating of 1 to 5: the mean of those who answered, 4 of 5 and 3,
# whether who left it blank has no key, or null as the column of a database has it.
# Seen: null and an empty text count as 0: the average is 2.67 and the least rating 0. Its NPS leaves the same blank out.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund --ignore-scripts survey-analytics@2.5.25 survey-core@2.5.25 jsdom@24.1.3
node - <<'END'
const { JSDOM } = require("jsdom");
const { window } = new JSDOM("<!doctype html><body></body>");
Object.assign(global, { window, document: window.document, HTMLElement: window.HTMLElement });
const { Model } = require("survey-core");
const { NpsVisualizer, NumberModel } = require("survey-analytics/survey.analytics.core");
const survey = new Model({ elements: [{ type: "rating", name: "course" }] });
const shown = async (Figure, last) => {
  const answers = [{ course: 5 }, { course: 3 }, last];
  return new Figure(survey.getQuestionByName("course"), answers, {}).getCalculatedValues();
};
(async () => {
  console.log("survey-analytics", JSON.parse(require("fs").readFileSync("node_modules/survey-analytics/package.json")).version);
  const seen = [];
  for (const last of [{}, { course: null }, { course: "" }]) {
    seen.push(await shown(NumberModel, last));
    console.log("5, 3 and", JSON.stringify(last), "-> average, least, most:", ...seen[seen.length - 1]);
  }
  const { total } = await shown(NpsVisualizer, { course: null });
  console.log("people of the NPS with a null:", total);
  process.exit(JSON.stringify([...seen, total]) === "[[4,3,5],[2.67,0,5],[2.67,0,5],2]" ? 0 : 1);
})();
END
