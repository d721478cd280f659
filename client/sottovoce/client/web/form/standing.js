import { pause } from "../device/transport.js";

const STATUS_FORMAT = "sottovoce-status/1";
const OFFLINE = "offline";
// The page waits no longer for what the aggregator says of the survey and of the link.
const PATIENCE_SECONDS = 2;
const STATUS_DAY = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;

/** What the aggregator says of a survey; "offline" where it says nothing. */
export function askStatus(transport, name) {
  return transport.fetchStatus(name).catch(() => OFFLINE);
}

/**
 * Whether a survey can be answered now, by the aggregator's word: `{ status: { kind, date }, revision }`. Kind is
 * "open", "early", "closed", "retired", "offline" or "token"; `revision` is `{ number, of }`, or null if not known.
 *
 * Where the aggregator is too old to say, or says nothing that can be read, it is open as far as anybody knows: a
 * report that comes too late is refused, and told, then.
 */
export function standingOf({ key, survey }, reply) {
  if (reply === OFFLINE) return { status: { kind: OFFLINE, date: null }, revision: null };
  const revisions = reply?.format === STATUS_FORMAT && Array.isArray(reply.revisions) ? reply.revisions : [];
  const own = revisions.find((one) => one?.digest === survey.digest);
  const wave = key[2];
  const state = own?.retired === true ? "retired" : own?.waves?.[wave];
  const kind = ["early", "closed", "retired"].includes(state) ? state : "open";
  return { status: { kind, date: dateOf(kind, survey, wave, reply) }, revision: numberOf(own, revisions) };
}

/** Whether what was told says something else than what the first step shows. */
export function isNews(standing, shown) {
  const isOther = ["kind", "date"].some((name) => standing.status[name] !== shown.status[name]);
  return isOther || (standing.revision?.of ?? 1) > 1;
}

/** Whether nothing can be answered as it stands; a missing connection forbids nothing. */
export function isShut({ kind }) {
  return !["open", "offline", "checking"].includes(kind);
}

/**
 * The standing by `statusReply`, which was asked for before, with the token of an invitation looked at too, where there
 * is one. Both are asked when the page is opened: the time between Begin and Send shows in no request.
 */
export async function standingWithToken(respondent, statusReply) {
  const { key, survey, transport } = respondent;
  const isToken = survey.access === "token";
  const token = isToken ? transport.checkToken(survey.name, key[3]).catch(({ reason }) => reason) : null;
  const standing = standingOf(respondent, await statusReply);
  if (isShut(standing.status)) return standing;
  // Only a plain refusal counts: if the server is busy or cannot be reached, the token is checked with the report.
  return (await token) === "token_invalid" ? { ...standing, status: { kind: "token", date: null } } : standing;
}

/** A standing, if it comes soon. */
export function heardSoon(found) {
  return Promise.race([found, pause(PATIENCE_SECONDS)]);
}

function dateOf(kind, { document }, wave, reply) {
  const { closes = null, opens = null } = document.waves?.[wave] ?? document;
  if (kind === "closed") return STATUS_DAY.test(reply?.closed_on) ? reply.closed_on : closes;
  return { open: closes, early: opens }[kind] ?? null;
}

function numberOf(own, revisions) {
  const [number, of] = [own?.revision, revisions[0]?.revision];
  return Number.isInteger(number) && Number.isInteger(of) && number <= of ? { number, of } : null;
}
