// Whole runs of the browser's client, from answers to a report that is sent, withdrawn and forgotten, on a device whose
// randomness is a tape. Runs whose tapes give the same outputs must be the same in everything that the device sees:
// then nothing that leaves it or stays on it depends on the answers. What differs is told by its kind, never by value.
import { serialize } from "node:v8";

import { Device, enter } from "./javascript_device.mjs";
import { whatRedemptionTells } from "./javascript_redemption.mjs";
import { ORIGIN } from "./javascript_site.mjs";

const ALLOWANCE = { question: Infinity, total: Infinity };
const DISCREET = { cache: "no-store", credentials: "omit", redirect: "error", referrerPolicy: "no-referrer" };
const BUSY = [503, "{}"];
const NO_CONNECTION = null;

/** What is found wrong in these runs, the first of each kind: { kind, questions }; and how many runs there were. */
export async function compareRuns(product, site, vectors) {
  const findings = new Findings();
  let [before, left, count] = [[], null, 0];
  for (const [place, { body, redemption, runs }] of vectors.entries()) {
    const course = [sendAtOnce, sendLater][place % 2];
    const first = await observe(product, site, course, runs[0], {});
    const drawn = Buffer.from(runs[0].tape, "hex").subarray(...redemption);
    judge(first, { ...site, body, drawn, tape: runs[0].tape }, findings);
    const { survey: known } = first;
    // Every second vector is answered where a report of another survey lies since before.
    const more = { survey: known, before: [[], before][place % 2] };
    const reference = await observe(product, site, course, runs[0], more);
    if (place === 0) before = asAnother(reference.kept, site);
    for (const [number, run] of runs.entries()) {
      // The first of them once more with the clocks moved: nothing may hang on the time.
      const shift = number === 0 ? place + 1 : 0;
      const found = await observe(product, site, course, run, { ...more, shift });
      const kind = difference(reference.events, found.events);
      if (kind !== null) findings.add(number === 0 ? "time" : kind, unlike(runs[0], run));
      count += 1;
    }
    left ??= reference.left;
    if (difference(left, reference.left) !== null) findings.add("forgotten", []);
  }
  return { found: findings.list, count };
}

/** What is wrong, the first of each kind: { kind, questions }. */
export class Findings {
  list = [];

  add(kind, questions) {
    const known = this.list.find((finding) => finding.kind === kind);
    // Of two of a kind, the one that fewer answers account for says more.
    if (known === undefined) this.list.push({ kind, questions });
    else if (questions.length < known.questions.length) known.questions = questions;
  }
}

async function sendAtOnce(path, answers, device) {
  tellOutcome(device, await answered(path, answers, device));
  keep(device, "sent");
  device.kept = device.databases.dump();
  tellOutcome(device, await path.receipt());
}

async function sendLater(path, answers, device) {
  device.failures.push(BUSY, NO_CONNECTION);
  // Whoever has no connection is told so after the second try, and sends again when there is one.
  device.onFailure = () => (device.isOnline = false);
  await answered(path, answers, device).catch((error) => device.tell("threw", error.name, String(error.sentence)));
  keep(device, "waiting");
  device.isOnline = true;
  tellOutcome(device, await path.send());
  keep(device, "sent");
  await path.withdraw();
  keep(device, "withdrawn");
}

// Where the report waits for its moment, that comes.
async function answered(path, answers, device) {
  try {
    return await path.answer(answers);
  } catch (error) {
    if (error.sendAt === undefined) throw error;
    device.tell("threw", error.name, String(error.sendAt));
    keep(device, "waiting");
    device.waitUntil(error.sendAt);
    return path.send();
  }
}

function tellOutcome(device, outcome) {
  device.tell("outcome", serialize(outcome).toString("latin1"));
}

/** Tell all that lies on the device at some moment. */
export function keep(device, moment) {
  device.tell("kept", moment, ...device.databases.dump().flat());
}

// What a device holds of one survey, as if it were of another.
function asAnother(dumped, { name, digest }) {
  const of = digest.replace(/./g, (digit) => "fedcba9876543210"[Number.parseInt(digit, 16)]);
  const called = (text) => text.replaceAll(JSON.stringify(name), JSON.stringify(`${name}-before`));
  const renamed = (text) => called(text).replaceAll(digest, of);
  return dumped.map(([database, store, key, bytes]) => [database, store, renamed(key), renamed(bytes)]);
}

// `before` is what the device holds already; `survey` is what was fetched and read in an earlier run; null for doing
// that, too.
async function observe(product, site, course, { answers, tape }, options) {
  const { shift = 0, survey = null, before = [] } = options;
  const failures = [];
  const answer = (request) => {
    if (!site.isForReports(request)) return site.answer(request);
    device.sent ??= { body: request.body, used: device.position };
    keep(device, "waiting");
    const reply = failures.length > 0 ? failures.shift() : site.answer(request);
    if (reply === NO_CONNECTION) device.onFailure();
    return reply;
  };
  const device = new Device(Buffer.from(tape, "hex"), answer, shift, site.present);
  Object.assign(device, { failures, sent: null });
  device.databases.restore(before);
  enter(device);
  let respondent = { survey };
  try {
    respondent = await begin(product, site, survey);
    await respondent.asked();
    if (site.isBlind) await product.redeem(respondent);
    const path = new product.AnswerPath(respondent);
    await course(path, structuredClone(answers), device);
    await path.forget();
    keep(device, "forgotten");
  } catch (error) {
    device.tell("broken", String(error?.name), String(error?.sentence));
  }
  const earlier = new Set(before.map(String));
  const held = device.databases.dump();
  const own = earlier.size === 0 ? held : held.filter((record) => !earlier.has(String(record)));
  const left = [["kept", "forgotten", ...own.flat()]];
  await device.leave();
  return { events: device.events, sent: device.sent, survey: respondent.survey, left, kept: device.kept ?? [] };
}

// As the page does it, up to the first question.
async function begin(product, { link, name, token, wave }, survey) {
  product.checkDevice();
  const transport = new product.Transport(ORIGIN);
  const ledger = await product.BrowserLedger.open();
  const wanted = [ORIGIN, name, wave, token];
  await ledger.find(wanted);
  await ledger.unaccepted(wanted);
  const options = { allowance: ALLOWANCE, wave };
  const respondent =
    survey === null
      ? await product.Respondent.connect(link, transport, ledger, options)
      : new product.Respondent(survey, transport, ledger, { ...options, token });
  await respondent.drawn();
  await respondent.spent();
  return respondent;
}

// What holds of every run, whatever the others are.
function judge({ events, sent }, { body, tape, ...site }, findings) {
  const kinds = new Set(events.map(([kind]) => kind));
  if (kinds.has("broken") || sent === null) return findings.add("broken", []);
  if (sent.body !== body) findings.add("law", []);
  if (kinds.has("beyond")) findings.add("beyond", []);
  if (sent.used * 2 !== tape.length) findings.add("used", []);
  for (const [kind, source] of events) if (kind === "source") findings.add(`source ${source}`, []);
  const requests = events.filter(([kind]) => kind === "request");
  if (!requests.every((request) => isAgreed(request, site))) findings.add("agreed", []);
  for (const kind of whatRedemptionTells(events, site)) findings.add(kind, []);
}

// The requests of design.md, and nothing with them: no cookie, no referrer, no further header.
function isAgreed([, method, address, headers, , more], { api, isBlind, token }) {
  const said = new Map(JSON.parse(headers)).get("Authorization");
  // Whether a signature is one, and goes by itself, is looked at elsewhere; what has arrived goes without.
  const permission = isBlind ? said : token && `Bearer ${token}`;
  const bearer = permission ? [["Authorization", permission]] : [];
  const known = {
    [`GET ${api}`]: [],
    [`GET ${api}/revisions`]: [],
    [`POST ${api}/reports`]: [["Content-Type", "application/json"], ...bearer],
    [`POST ${api}/withdraw`]: [["Content-Type", "application/json"]],
    ...(isBlind && { [`POST ${api}/redeem`]: [["Content-Type", "application/json"]] }),
  };
  const options = Object.entries(JSON.parse(more)).sort();
  const isDiscreet = JSON.stringify(options) === JSON.stringify(Object.entries(DISCREET));
  return isDiscreet && JSON.stringify(known[`${method} ${address}`]) === headers;
}

/** Of which kind the first difference is between two lists of events; null if there is none. */
export function difference(one, other) {
  const longest = Math.max(one.length, other.length);
  for (let place = 0; place < longest; place += 1) {
    const [first, second] = [one[place], other[place]];
    if (first === undefined || second === undefined || first[0] !== second[0]) return `order ${(second ?? first)[0]}`;
    const part = first.findIndex((text, index) => text !== second[index]);
    const isSame = part < 0 && first.length === second.length;
    if (!isSame) return first[0] === "kept" ? `kept ${first[1]}` : `${first[0]} ${part}`;
  }
  return null;
}

/** The names of the questions that two runs answer differently. */
export function unlike({ answers: one }, { answers: other }) {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return names.filter((name) => JSON.stringify(one[name]) !== JSON.stringify(other[name]));
}
