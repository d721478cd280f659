import { dumpCanonical, loadCanonical, sha256 } from "../survey/canonical.js";
import { TransportError } from "../survey/errors.js";
import { loadSurvey } from "../survey/parse_survey.js";

const REVISIONS_FORMAT = "sottovoce-revisions/1";
const MOST_REVISIONS = 8;

/**
 * The canonical bytes of the revision whose digest begins with `digest`, out of all that the aggregator shows to
 * everybody; `newest` is what it gave as the newest, in bytes.
 *
 * @throws {TransportError} unreachable; none of them is it; or what is shown contradicts itself
 */
export async function revisionOf(transport, name, digest, newest = null, tries = undefined) {
  const shown = await readRevisions(transport, name, tries);
  checkChain(shown, newest && (await sha256(newest)));
  const found = shown.find((one) => one.digest.startsWith(digest));
  if (found === undefined) throw new TransportError("error_other_survey");
  return found.bytes;
}

/** The survey that was drawn for: kept here, else from the aggregator, asked once; null where it is not to be had. */
export async function surveyDrawnFor(ledger, transport, name, digest) {
  const text = await ledger.surveyText(digest);
  const ways = [
    () => (text === null ? null : new TextEncoder().encode(text)),
    () => transport.fetchSurvey(name, 1),
    () => revisionOf(transport, name, digest, null, 1),
  ];
  for (const way of ways) {
    const found = await surveyOf(way, digest).catch(() => null);
    if (found !== null) return found;
  }
  return null;
}

async function surveyOf(way, digest) {
  const bytes = await way();
  return bytes !== null && (await sha256(bytes)) === digest ? loadSurvey(bytes) : null;
}

async function readRevisions(transport, name, tries) {
  const bytes = await transport.fetchRevisions(name, tries).catch((error) => {
    // An older aggregator has only the newest, and that is not the link's.
    throw error.status === 404 ? new TransportError("error_other_survey") : error;
  });
  const { format, revisions, survey } = loadCanonical(bytes);
  const isOurs = format === REVISIONS_FORMAT && survey === name && Array.isArray(revisions);
  const isWhole = isOurs && revisions.length <= MOST_REVISIONS && revisions.every((one) => one?.name === name);
  if (!isWhole) throw new TransportError("error_revisions");
  return Promise.all(revisions.map(revision));
}

async function revision(document) {
  const bytes = new TextEncoder().encode(dumpCanonical(document));
  return { bytes, digest: await sha256(bytes), document };
}

// Each has a number of its own, and names the one before it, where it names any: two of one number are two surveys. The
// newest is one of them: who is shown another as the newest is shown another than everybody.
function checkChain(revisions, newest) {
  const isWrong = revisions.some(({ document }, index) => {
    const older = revisions[index + 1];
    const isFork = older && !(document.revision > older.document.revision);
    const isTorn = older && ![undefined, older.digest].includes(document.replaces);
    return isFork || isTorn;
  });
  const isLeftOut = newest !== null && !revisions.some(({ digest }) => digest === newest);
  if (isWrong || isLeftOut || haveOtherKeys(revisions)) throw new TransportError("error_revisions");
}

// Two keys for one wave would tell people apart by which of them has signed; and one with keys beside one without tells
// who sends the invitation itself.
function haveOtherKeys(revisions) {
  const all = revisions.map(({ document }) => [].concat(document.access?.blind ?? []));
  if (all.some((keys) => keys.length > 0) && all.some((keys) => keys.length === 0)) return true;
  return all.some((ones) => all.some((others) => ones.some((key, wave) => key !== (others[wave] ?? key))));
}
