#!/bin/sh
# Expected of the points that the dashboard of SurveyJS gives to ranked options, where people rank as many as they like: a first place has
# the points of a first place.
# Seen: points are counted from the end of each person's own list. Who ranks train alone gives it 1 point, as who puts it last of three.
# Train is first for two people of three and has as many points as car, which is first for one.
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
const { RankingModel } = require("survey-analytics/survey.analytics.core");
const elements = [{ type: "ranking", name: "rank", choices: ["train", "car", "bike"], selectToRankEnabled: true }];
const survey = new Model({ elements });
const answers = [{ rank: ["train"] }, { rank: ["train"] }, { rank: ["car", "bike", "train"] }];
(async () => {
  const figure = new RankingModel(survey.getQuestionByName("rank"), answers, {});
  const [points] = await figure.getCalculatedValues();
  console.log("survey-analytics", JSON.parse(require("fs").readFileSync("node_modules/survey-analytics/package.json")).version);
  const seen = Object.fromEntries(figure.getValues().map((name, at) => [name, points[at]]));
  answers.forEach(({ rank }) => console.log("ranked:", rank.join(", ")));
  console.log("points:", seen);
  process.exit(seen.train === 3 && seen.car === 3 && seen.bike === 2 ? 0 : 1);
})();
END
