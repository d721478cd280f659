/** RFC 9474 as another library has it: one JSON command a line, one reply a line; numbers are base64url. */
import { createInterface } from "node:readline";

import { RSABSSA } from "@cloudflare/blindrsa-ts";

const suite = RSABSSA.SHA384.PSS.Deterministic();
const ALGORITHM = { name: "RSA-PSS", hash: "SHA-384" };
const bytes = (text) => new Uint8Array(Buffer.from(text, "base64url"));
const text = (value) => Buffer.from(value).toString("base64url");
const blindings = new Map();

const publicKey = (modulus) =>
  crypto.subtle.importKey("jwk", { kty: "RSA", n: modulus, e: "AQAB" }, ALGORITHM, true, ["verify"]);

const commands = {
  async blind({ modulus, message }) {
    const { blindedMsg, inv } = await suite.blind(await publicKey(modulus), bytes(message));
    blindings.set(message, inv);
    return { blinded: text(blindedMsg) };
  },
  async finalize({ modulus, message, answer }) {
    const found = await suite.finalize(await publicKey(modulus), bytes(message), bytes(answer), blindings.get(message));
    return { signature: text(found) };
  },
  async sign({ jwk, blinded }) {
    const key = await crypto.subtle.importKey("jwk", jwk, ALGORITHM, true, ["sign"]);
    return { answer: text(await suite.blindSign(key, bytes(blinded))) };
  },
  async verify({ modulus, message, signature }) {
    return { good: await suite.verify(await publicKey(modulus), bytes(signature), bytes(message)) };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { command, ...given } = JSON.parse(line);
  console.log(JSON.stringify(await commands[command](given)));
}
