#!/bin/sh
# Expected of a record that a form of ODK sends by SMS, as tags and answers with spaces between: a space within an answer has a backslash
# ("it will be prepended by a slash", ODK XForms specification), so that the server splits the message where an answer ends.
# Seen: the first space of each answer alone. Three ticks of one question, or a name of three words, shift all that follows: the third tick
# is read as a tag, and the age of 17 is in no answer that the form asks for. Two ticks arrive as they were.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund --ignore-scripts odk-xform-compact-record-representation-for-sms@1.0.1 jquery@3.7.1 jsdom@26.1.0
node - <<'END'
const { readFileSync } = require("fs");
const { JSDOM } = require("jsdom");
global.$ = require("jquery")(new JSDOM("").window);
const name = "odk-xform-compact-record-representation-for-sms";
const compact = require(name);
console.log(name, JSON.parse(readFileSync(`node_modules/${name}/package.json`)).version);
const seen = ["cannabis cocaine", "cannabis cocaine alcohol"].map((ticks) => {
  const message = compact(`<survey odk:prefix="s"><used odk:tag="u">${ticks}</used><age odk:tag="a">17</age><school odk:tag="s">b</school></survey>`);
  const parts = message.split(/(?<!\\) /).map((part) => part.replaceAll("\\ ", " ")).slice(1);
  const read = Object.fromEntries(Array.from({ length: Math.ceil(parts.length / 2) }, (_, at) => parts.slice(2 * at, 2 * at + 2)));
  console.log("sent:", message, "; read:", read);
  return [read.u, read.a ?? null];
});
process.exitCode = JSON.stringify(seen) === JSON.stringify([["cannabis cocaine", "17"], ["cannabis cocaine", null]]) ? 0 : 1;
END
