#!/bin/sh
# Expected of @formio/core, which checks on the server what a form of Form.io sent: a question that is shown if the radio question
# "children" equals "0", one of its values, keeps its answer where children is 0, as one for "1" does where it is 1.
# Seen: the answer 0 becomes a number, the "0" of the condition does not, since 0 counts as no value. The question is hidden and its answer
# deleted, for "0" alone and without an error: who has no children has not answered it.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @formio/core@2.8.3
node - <<'END'
const { process: check, ProcessTargets } = require("@formio/core/process");
const after = async (children) => {
  const conditional = { show: true, conjunction: "all", conditions: [{ component: "children", operator: "isEqual", value: children }] };
  const components = [
    { type: "radio", key: "children", input: true, values: ["0", "1", "2"].map((value) => ({ label: value, value })) },
    { type: "textfield", key: "wishes", input: true, conditional },
  ];
  const data = { children, wishes: "a garden" };
  const submission = { data };
  const processors = [...ProcessTargets.submission, ...ProcessTargets.evaluator];
  await check({ form: { components }, components, data, submission, processors, scope: {}, config: { server: true } });
  return data;
};
(async () => {
  console.log("@formio/core", JSON.parse(require("fs").readFileSync("node_modules/@formio/core/package.json")).version);
  const seen = [];
  for (const children of ["0", "1", "2"]) {
    seen.push(JSON.stringify(await after(children)));
    console.log(`shown if children = "${children}", and children is ${children}:`, seen[seen.length - 1]);
  }
  const wanted = ['{"children":0}', '{"children":1,"wishes":"a garden"}', '{"children":2,"wishes":"a garden"}'];
  process.exitCode = JSON.stringify(seen) === JSON.stringify(wanted) ? 0 : 1;
})();
END
