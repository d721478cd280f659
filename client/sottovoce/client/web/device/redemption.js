import { SALT, bitsOfModulus, blind, bytesOf, drawFactor, finalize } from "../survey/blind_signatures.js";
import { dumpCanonical, sha256 } from "../survey/canonical.js";
import { signersKey } from "./entries.js";
import { BudgetExhausted, TransportError } from "../survey/errors.js";
import { dumpRequest, message, parseReply, readNumber, spell } from "../survey/redemption.js";

// In the place of the wave in a key: what an invitation was redeemed for.
const REDEMPTION = -2;
const BURNT = "burnt";

/**
 * Have the ids of all waves signed, unless that was done before. The ids are in the ledger before any request is sent.
 * See the Python twin.
 *
 * @throws {BudgetExhausted} nothing may be asked for any more, or the ledger refuses
 * @throws {TransportError} no answer, or refused
 */
export async function redeem({ draws, key, ledger, survey, transport }) {
  await checkSigners(ledger, key, survey);
  const own = redemptionKey(key);
  let entry = await ledger.get(own);
  if (entry === null) {
    const drawn = dumpWaves((await prepareIds(survey.moduli, draws)).map(toSign));
    // Drawn, then offered: of two tabs the ledger keeps the ids of one, and both send those.
    entry = await ledger.record(own, { digest: "", epsilon: 0, body: drawn, sent: true });
  }
  const prepared = storedWaves(entry).filter((wave) => wave?.blinded).map(fromLedger);
  if (prepared.length === 0) return;
  const signed = await askToSign(survey, own, prepared, transport);
  await haveSigned(ledger, own, entry.body, prepared, signed, survey.moduli);
}

/** Whether `redeem` would send a request; then the aggregator sees that the invitation was opened. */
export async function isToRedeem({ key, ledger }) {
  const entry = await ledger.get(redemptionKey(key));
  return entry === null || storedWaves(entry).some((wave) => wave?.blinded);
}

/**
 * An id for each wave, and how it goes to be signed. Bytes: for each wave 16 of the id, 48 of the salt, and those of
 * `drawFactor`.
 */
export async function prepareIds(moduli, draws) {
  const prepared = [];
  for (const modulus of moduli) {
    const report_id = draws.identity();
    const salt = draws.exactly(SALT);
    const factor = drawFactor(modulus, (count) => draws.exactly(count));
    prepared.push({ report_id, ...(await blind(await message(modulus, report_id), modulus, salt, factor)) });
  }
  return prepared;
}

/**
 * The id that the report of this wave must have, with its signature: `{ id, signature }`; null if one has taken it.
 *
 * @throws {BudgetExhausted} the invitation was not redeemed for this wave, or is not good any more
 */
export async function signedId({ key, ledger }) {
  const entry = await ledger.get(redemptionKey(key));
  const found = entry === null ? undefined : storedWaves(entry)[key[2]];
  if (found === undefined || (found !== null && !found.signature)) throw new BudgetExhausted("error_invitation");
  return found;
}

/** Wipe id and signature of a wave whose report is in the ledger, with a copy of them that goes with its receipt. */
export async function forgetSignature(ledger, key) {
  const own = redemptionKey(key);
  const entry = await ledger.get(own);
  if (entry === null || entry.ended || entry.body === BURNT) return;
  const waves = storedWaves(entry).map((stored, wave) => (wave === key[2] ? null : stored));
  // Where another tab has just changed it, the next visit does this.
  await ledger.revise(own, entry.body, dumpWaves(waves));
}

/** Under which key lies what the invitation of `key` was redeemed for. */
export function redemptionKey([origin, name, , token]) {
  return [origin, name, REDEMPTION, token];
}

// Two versions with different keys for one wave would tell people apart: then neither is used any more.
async function checkSigners(ledger, key, { moduli }) {
  const own = signersKey(key);
  const keys = await Promise.all(moduli.map((modulus) => sha256(bytesOf(modulus, bitsOfModulus(modulus) / 8))));
  const body = dumpCanonical({ keys });
  const entry = await ledger.record(own, { digest: "", epsilon: 0, body, sent: true });
  const known = entry.ended ? [] : readBody(entry.body).keys;
  const isSame = known?.length > 0 && known.every((one, wave) => wave >= keys.length || one === keys[wave]);
  if (!isSame) {
    await ledger.end(own, "contradicted");
    throw new BudgetExhausted("error_keys");
  }
  if (known.length < keys.length) await ledger.revise(own, entry.body, body);
}

async function askToSign(survey, own, prepared, transport) {
  if (prepared.length > survey.moduli.length) throw new BudgetExhausted("error_invitation");
  const request = dumpRequest(survey.digest, own[3], prepared.map(({ sent }) => sent));
  const reply = await transport.redeem(survey.name, request).catch((error) => {
    // Who is busy, or holds invitations for a while, can be asked for the same later.
    const refused = error.reason === "already_redeemed" ? "error_redeemed" : error.sentence;
    const sentence = error.isFinal ? refused : "error_unreachable";
    throw new TransportError(sentence, error.status, error.reason);
  });
  try {
    const signed = parseReply(reply, survey.name);
    if (signed.length === prepared.length) return signed;
  } catch {
    // Told below.
  }
  throw new TransportError("error_signatures");
}

async function haveSigned(ledger, own, body, prepared, signed, moduli) {
  let done;
  try {
    const signatures = prepared.map((each, wave) => spell(finalize(each, signed[wave], moduli[wave])));
    done = prepared.map(({ report_id }, wave) => ({ id: report_id, signature: signatures[wave] }));
  } catch {
    // Another tab may have had an honest answer meanwhile: only what was prepared is burnt.
    if (await ledger.revise(own, body, BURNT)) throw new BudgetExhausted("error_burnt");
    return;
  }
  await ledger.revise(own, body, dumpWaves(done));
}

function toSign({ encoded, inverse, report_id, sent }) {
  return { id: report_id, blinded: spell(sent), inverse: inverse.toString(16), encoded: encoded.toString(16) };
}

function fromLedger({ blinded, encoded, id, inverse }) {
  try {
    const [opens, signs] = [inverse, encoded].map((digits) => BigInt(`0x${digits}`));
    return { report_id: id, sent: readNumber(blinded), inverse: opens, encoded: signs };
  } catch {
    throw new BudgetExhausted("error_ledger");
  }
}

function dumpWaves(waves) {
  return dumpCanonical({ waves });
}

function storedWaves(entry) {
  if (entry.ended) throw new BudgetExhausted("error_invitation");
  if (entry.body === BURNT) throw new BudgetExhausted("error_burnt");
  const { waves } = readBody(entry.body);
  if (!Array.isArray(waves)) throw new BudgetExhausted("error_ledger");
  return waves;
}

function readBody(body) {
  try {
    return JSON.parse(body);
  } catch {
    throw new BudgetExhausted("error_ledger");
  }
}
