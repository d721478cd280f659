// node load.mjs PORT PATH CONNECTIONS SECONDS FILE: sends reports without pause, each under a new id, and prints one JSON
// object: replies a second with status 200, counts by status, latencies in milliseconds.
// FILE holds bodies of one length, one a line; the ids in them are replaced.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import autocannon from "autocannon";

const [port, path, connections, seconds, file] = process.argv.slice(2);
const bodies = readFileSync(file, "latin1").split("\n").filter((line) => line);
const place = bodies[0].indexOf('"report_id":"') + '"report_id":"'.length;
let sent = 0;

function nextBody() {
  const body = bodies[sent++ % bodies.length];
  return body.slice(0, place) + randomBytes(16).toString("hex") + body.slice(place + 32);
}

const setupRequest = (request) => ({ ...request, body: nextBody() });
const headers = { "content-type": "application/json" };
const result = await autocannon({
  url: `http://127.0.0.1:${port}`,
  connections: Number(connections),
  duration: Number(seconds),
  requests: [{ method: "POST", path, headers, setupRequest }],
});
const statuses = Object.fromEntries(Object.entries(result.statusCodeStats).map(([code, { count }]) => [code, count]));
const accepted = statuses["200"] ?? 0;
console.log(JSON.stringify({
  rate: accepted / result.duration,
  statuses,
  errors: result.errors,
  p50: result.latency.p50,
  p99: result.latency.p99,
}));
