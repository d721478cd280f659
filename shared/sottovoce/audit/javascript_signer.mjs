// What signs in an audit, with its own keys: the twin of own_keys.py. A modulus is a prime there, so that the exponent
// which signs follows from it; nothing is signed but what an audit makes up.
import { constants, createHash, createPublicKey, verify } from "node:crypto";

const EXPONENT = 65537n;
const SALT = 48;
const BYTES = 256;
const SCHEME = "Blind ";
const LABEL = Buffer.from("sottovoce-blind/1\0");
const known = new Map();

/** The body of a reply to a request for signatures: whatever is asked for is signed, unless it is to be `marred`. */
export function redeemed({ access, name }, body, marred = false) {
  const { blinded } = JSON.parse(body);
  const signed = access.blind.slice(0, blinded.length).map((modulus, wave) => rootOf(modulus, blinded[wave], marred));
  return JSON.stringify({ format: "sottovoce-redemption/1", survey: name, signed });
}

/** Whether a header carries the signature of a report's id, under the key of its wave, and nothing else. */
export function isSigned({ access }, body, header) {
  const { report_id, wave } = JSON.parse(body);
  if (!header.startsWith(SCHEME)) return false;
  const spelt = header.slice(SCHEME.length);
  const [modulus, signature] = [access.blind[wave], Buffer.from(spelt, "base64url")];
  if (signature.toString("base64url") !== spelt) return false;
  const digest = createHash("sha256").update(Buffer.from(modulus, "base64url")).digest();
  const message = Buffer.concat([LABEL, digest, Buffer.from(report_id, "hex")]);
  const key = createPublicKey({ key: { kty: "RSA", n: modulus, e: "AQAB" }, format: "jwk" });
  return verify("sha384", message, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: SALT }, signature);
}

// The same few numbers come again and again.
function rootOf(modulus, blinded, marred) {
  const place = `${modulus} ${blinded}`;
  if (!known.has(place)) {
    const n = numberOf(modulus);
    const root = power(numberOf(blinded), inverse(EXPONENT, n - 1n), n);
    known.set(place, Buffer.from(root.toString(16).padStart(2 * BYTES, "0"), "hex"));
  }
  const root = Buffer.from(known.get(place));
  root[BYTES - 1] ^= Number(marred);
  return root.toString("base64url");
}

function numberOf(spelt) {
  return BigInt(`0x${Buffer.from(spelt, "base64url").toString("hex")}`);
}

function power(base, exponent, modulus) {
  let result = 1n;
  for (const bit of exponent.toString(2)) {
    result = (result * result) % modulus;
    if (bit === "1") result = (result * base) % modulus;
  }
  return result;
}

function inverse(number, modulus) {
  let [before, now, first, second] = [modulus, number, 0n, 1n];
  while (now > 0n) {
    const times = before / now;
    [before, now, first, second] = [now, before - times * now, second, first - times * second];
  }
  return ((first % modulus) + modulus) % modulus;
}
