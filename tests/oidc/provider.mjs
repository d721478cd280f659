// A real OpenID Connect provider on this machine, for tests of signing in: any name is let in by any password.
//
//   node provider.mjs PORT CLIENT SECRET CALLBACK
//
// POST /rig/clock?seconds=N sets its clock N seconds off, POST /rig/rotate gives it other keys and no more the former
// ones; POST /rig/hang?seconds=N keeps whoever asks for anything waiting. Prints "ready" once it listens.
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";

const [port, client, secret, callback] = process.argv.slice(2);
const issuer = `http://localhost:${port}`;
const present = Date.now;
let off = 0;
Date.now = () => present() + off * 1000;

const { Provider } = await import("oidc-provider");

let named = 0;

function newKey() {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { ...privateKey.export({ format: "jwk" }), use: "sig", alg: "RS256", kid: `key-${(named += 1)}` };
}

// Answers are made by whichever provider there is now; what was begun stays in the library's own memory.
function newProvider() {
  return new Provider(issuer, {
    clients: [{ client_id: client, client_secret: secret, redirect_uris: [callback] }],
    cookies: { keys: ["a key for the cookies of a test"] },
    jwks: { keys: [newKey()] },
    pkce: { required: () => true },
  }).callback();
}

let answer = newProvider();
let hangs = 0;

const rig = {
  "/rig/clock": (seconds) => (off = seconds),
  "/rig/hang": (seconds) => (hangs = seconds),
  "/rig/rotate": () => (answer = newProvider()),
};

createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, issuer);
  if (pathname in rig) {
    rig[pathname](Number(searchParams.get("seconds")));
    response.end();
  } else {
    setTimeout(() => answer(request, response), hangs * 1000);
  }
}).listen(Number(port), "127.0.0.1", () => console.log("ready"));
