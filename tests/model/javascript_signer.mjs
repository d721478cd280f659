// What signs for invented people, with its own keys, as tests/unit/client/issuer.py does. A modulus is a prime there, so
// that the exponent which signs follows from it; nothing is signed but what a test makes up.
import { constants, createHash, createPublicKey, verify } from "node:crypto";

const EXPONENT = 65537n;
const ID = 16;
const SALT = 48;
const HASH = 48;
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

/** What must be sent to be signed, for each wave: worked out from the bytes `drawn`, without the client's code. */
export function blindedOf({ access }, drawn) {
  let place = 0;
  const read = (count) => drawn.subarray(place, (place += count));
  return access.blind.map((modulus) => blindedUnder(modulus, read));
}

// An id, encoded as PSS does it with SHA-384 (RFC 8017, 9.1.1), times the factor to the power of the exponent.
function blindedUnder(modulus, read) {
  const n = numberOf(modulus);
  const own = Buffer.concat([labelled(modulus), read(ID)]);
  const salt = read(SALT);
  let factor = 0n;
  while (factor === 0n || factor >= n) factor = integerOf(read(BYTES));
  const digest = sha384(Buffer.alloc(8), sha384(own), salt);
  const room = BYTES - HASH - 1;
  const blocks = [...Array(Math.ceil(room / HASH)).keys()].map((block) => sha384(digest, Buffer.of(0, 0, 0, block)));
  const mask = integerOf(Buffer.concat(blocks).subarray(0, room));
  const masked = BigInt.asUintN(8 * room - 1, integerOf(Buffer.concat([Buffer.of(1), salt])) ^ mask);
  const encoded = integerOf(Buffer.concat([bytesOf(masked, room), digest, Buffer.of(0xbc)]));
  return bytesOf((encoded * power(factor, EXPONENT, n)) % n, BYTES).toString("base64url");
}

/** Whether a header carries the signature of a report's id, under the key of its wave, and nothing else. */
export function isSigned({ access }, body, header) {
  const { report_id, wave } = JSON.parse(body);
  if (!header.startsWith(SCHEME)) return false;
  const spelt = header.slice(SCHEME.length);
  const [modulus, signature] = [access.blind[wave], Buffer.from(spelt, "base64url")];
  if (signature.toString("base64url") !== spelt) return false;
  const message = Buffer.concat([labelled(modulus), Buffer.from(report_id, "hex")]);
  const key = createPublicKey({ key: { kty: "RSA", n: modulus, e: "AQAB" }, format: "jwk" });
  return verify("sha384", message, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: SALT }, signature);
}

// The same few numbers come again and again.
function rootOf(modulus, blinded, marred) {
  const place = `${modulus} ${blinded}`;
  if (!known.has(place)) {
    const n = numberOf(modulus);
    const root = power(numberOf(blinded), inverse(EXPONENT, n - 1n), n);
    known.set(place, bytesOf(root, BYTES));
  }
  const root = Buffer.from(known.get(place));
  root[BYTES - 1] ^= Number(marred);
  return root.toString("base64url");
}

// With what each message begins under one modulus.
function labelled(modulus) {
  return Buffer.concat([LABEL, createHash("sha256").update(Buffer.from(modulus, "base64url")).digest()]);
}

function sha384(...parts) {
  return createHash("sha384").update(Buffer.concat(parts)).digest();
}

function numberOf(spelt) {
  return integerOf(Buffer.from(spelt, "base64url"));
}

function integerOf(bytes) {
  return BigInt(`0x${bytes.toString("hex")}`);
}

function bytesOf(number, length) {
  return Buffer.from(number.toString(16).padStart(2 * length, "0"), "hex");
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
