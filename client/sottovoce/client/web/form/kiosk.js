import { askedBy } from "./phrases.js";
import { button, element, row, titled } from "./dom.js";
import { settled } from "../device/entries.js";
import { systemBytes } from "../device/draws.js";
import { BrowserLedger } from "../device/ledger.js";
import { KIOSK_SENTENCES } from "../survey/sentences/kiosk.js";
import { SpecError } from "../survey/errors.js";
import { parseToken } from "../survey/link.js";
import { hexadecimal, sha256 } from "../survey/canonical.js";
import { parseReport } from "../survey/report.js";
import { Respondent } from "../device/respondent.js";

const SECONDS_TO_READ = 60;
const SECONDS_OF_REST = 300;
const STAFF_CODE = /([#&])staff=([\w-]{4,32})/;
// What takes its place in the address: a salt, and the digest of both.
const SEALED_CODE = /[#&]sealed=([0-9a-f]{32})([0-9a-f]{64})/;
const REPORT_ID = /^[0-9a-f]{32}$/;

/**
 * A device that is handed round: each person is started by the code of the staff, which stands in the link, or by a
 * token of their own. What is drawn for a person lies in a ledger apart, is not counted to the device's own account,
 * and is erased before the next person, who draws everything anew. What did not arrive waits under another name: it is
 * sent without a word, and no receipt of it is shown, since the next person may be looking.
 *
 * `meet` shows the first step to a person. Without a code in the link to an open survey the device is a person's own.
 *
 * @param shell a respondent by whom nothing is answered: the survey, and the way to its aggregator
 */
export async function receivePeople(shell, words, view, meet) {
  const { survey, transport } = shell;
  const isStaffCode = await sealedCode();
  if (survey.access === "open" && !isStaffCode) return meet(shell);
  // Nothing of a person stays here for later.
  if ([survey.waves > 1, survey.memoized.length > 0, survey.isBlind, survey.isDelayed].some(Boolean)) {
    throw new SpecError("/kiosk");
  }
  await words.speak(survey);
  words.rare.add(KIOSK_SENTENCES);
  const name = `sottovoce-kiosk-${survey.name}`;
  // A code on a card answers once.
  const told = survey.access === "open" && survey.private.length ? ["kiosk_again", "kiosk_rest"] : ["kiosk_rest"];
  const notes = () => told.map((key) => words.line("p", key));
  const kiosk = { notes, lastStep: lastStep(name), startAnew: () => startAnew(name), restSoon: () => later(loadAnew) };
  const person = async (token) => {
    watchRest(view);
    const ledger = await BrowserLedger.open(null, name);
    return new Respondent(survey, transport, ledger, { token, kiosk });
  };
  await sendUnsent(name, transport);
  // What a person left who did not finish is no longer there for the next.
  await erase(name);
  // A code of the staff starts no person where each person has a card.
  const read = survey.access === "open"
    ? async (typed) => ((await isStaffCode(typed)) ? "" : null)
    : (typed) => tokenOf(typed, survey.name);
  view.show(codeStep(shell, words, read, (token) => view.guarded(async () => meet(await person(token)))), false);
}

// Whether a typed code is the one that the link came with, or null without one. The address keeps a digest in its
// place.
async function sealedCode() {
  const [whole, mark, code] = STAFF_CODE.exec(location.hash) ?? [];
  if (code) {
    const salt = hexadecimal(systemBytes(16));
    const sealed = location.hash.replace(whole, `${mark}sealed=${salt}${await sha256(salt + code)}`);
    history.replaceState(history.state, "", sealed);
  }
  const [, salt, digest] = SEALED_CODE.exec(location.hash) ?? [];
  return salt ? async (typed) => (await sha256(salt + typed)) === digest : null;
}

// What was drawn and did not arrive is put beside, and sent whenever there is a connection: the same bytes.
async function sendUnsent(name, transport) {
  const [own, beside] = [await BrowserLedger.open(null, name), await BrowserLedger.open(null, `${name}-unsent`)];
  for (const [key, entry] of await own.waiting(transport.origin)) {
    await beside.record([...key, parseReport(entry.body).report_id], entry);
  }
  const isDone = async () => (await beside.waiting(transport.origin)).length === 0;
  const end = () => erase(`${name}-unsent`);
  if (await isDone()) return end();
  const send = async () => {
    const { sendWaiting } = await import("../device/delivery.js");
    await sendWaiting(beside, transport, null);
    if (await isDone()) await end();
  };
  addEventListener("online", () => send().catch(() => {}));
  send().catch(() => {});
}

function tokenOf(typed, survey) {
  try {
    return parseToken(typed.trim(), survey) || null;
  } catch {
    return null;
  }
}

// Which code is typed; `read` gives a token, none for the staff's code, or null where it is no code.
function codeStep({ survey, transport }, words, read, onStart) {
  const start = words.text("h1", survey.title, { tabIndex: -1 });
  const head = [askedBy(survey, words), start].filter(Boolean);
  const label = survey.access === "open" ? "kiosk_staff" : "kiosk_card";
  const wrong = (fault) => fault.replaceChildren(words.node("kiosk_wrong"));
  const enter = codeForm(words, label, "kiosk_start", async (typed, fault) => {
    const token = await read(typed);
    return token === null ? wrong(fault) : onStart(token);
  });
  const back = codeForm(words, "kiosk_withdrawal", "withdraw", async (typed, fault) => {
    const id = typed.replaceAll(/[\s-]/g, "").toLowerCase();
    if (!REPORT_ID.test(id)) return wrong(fault);
    const done = await transport.withdraw(survey.name, id).catch(() => null);
    fault.replaceChildren(words.node(done?.report_id === id ? "kiosk_withdrawn" : "kiosk_wrong"));
  });
  const fold = element("details", {}, words.line("summary", "withdraw"), back);
  return { node: element("div", { id: "kiosk" }, ...head, enter, fold), start };
}

function codeForm(words, label, action, onCode) {
  const usual = { type: "text", autocomplete: "off", spellcheck: false, autocapitalize: "off" };
  const input = element("input", { ...usual, id: label });
  const fault = element("p", { role: "status", className: "told" });
  const submit = element("button", { type: "submit", className: "primary" }, words.node(action));
  const form = element("form", { method: "dialog", autocomplete: "off" });
  form.append(element("p", {}, element("label", { htmlFor: label }, words.node(label))), input, fault, row(submit));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    fault.replaceChildren();
    const typed = input.value.trim();
    input.value = "";
    await onCode(typed, fault);
  });
  return form;
}

// The receipt on a device that is handed round, with the `parts` of any receipt; it is erased after a minute, or when
// its button is pressed.
function lastStep(name) {
  return (parts) => (survey, words, receipt, _isEarlier, _spent, onEnd) => {
    const id = receipt.report_id.replaceAll(/(.{4})(?=.)/g, "$1 ");
    const code = element("p", {}, element("code", { dir: "ltr", id: "kiosk_code" }, id));
    const done = button(words.node("kiosk_done"), "primary", () => startAnew(name));
    const back = button(words.node("withdraw"), "", () => onEnd("withdraw"));
    const lines = ["kiosk_erased", "kiosk_once"].map((key) => words.line("p", key));
    const told = parts(survey, words, receipt);
    // Also where the answers have been withdrawn meanwhile.
    later(() => startAnew(name));
    return titled({ id: "receipt" }, words.node("receipt_title_open"), ...lines, code, row(done, back), ...told);
  };
}

function later(work) {
  setTimeout(work, 1000 * SECONDS_TO_READ);
}

// Who goes away in the middle leaves no answer on the screen. What was drawn and did not arrive is then sent once more.
function watchRest(view) {
  // The browser's question would leave the answers on the screen.
  view.asksOnce = false;
  let last = Date.now();
  const look = () => Date.now() - last > 1000 * SECONDS_OF_REST && loadAnew();
  // A device that slept, too, is looked at before its first touch counts.
  const touched = () => look() || (last = Date.now());
  for (const event of ["pointerdown", "keydown", "input", "scroll"]) addEventListener(event, touched, true);
  const lookAgain = () => look() || setTimeout(lookAgain, 1000);
  lookAgain();
}

// Everything of the person is gone; the page begins anew, in the device's own language.
async function startAnew(name) {
  document.body.replaceChildren();
  await erase(name);
  loadAnew();
}

function loadAnew() {
  document.body.replaceChildren();
  history.replaceState(null, "");
  location.reload();
  return true;
}

async function erase(name) {
  await settled(globalThis.indexedDB.deleteDatabase(name));
}
