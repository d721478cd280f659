import { askedBy, whenInWords } from "./phrases.js";
import { button, element, row } from "./dom.js";
import { dumpCanonical } from "../survey/canonical.js";

/**
 * Give a file with these parts of a page, under the survey's title, as they stand in this language; it needs nothing
 * else to be read. Whatever can be opened in it stands open. `kind` goes with its name.
 */
export function saveCopy(survey, words, parts, kind = "") {
  const body = element("main", {}, words.text("h1", survey.title), ...parts);
  for (const details of body.querySelectorAll("details")) details.open = true;
  giveFile(`${survey.name}${kind}.html`, fileOf(body));
}

/** Give the participant's copy of the consent of today: who asks, what was agreed to, the digest; no answer. */
export function saveConsent(survey, words) {
  const { consent, digest, notice, researcher } = survey;
  const contact = researcher?.contact ? [element("p", {}, researcher.contact)] : [];
  const texts = [researcher?.ethics, notice, consent].filter(Boolean).map((text) => words.text("p", text));
  // The day by the reader's own clock; Swedish writes it as a survey file does.
  const today = element("p", {}, whenInWords(new Date().toLocaleDateString("sv"), words));
  const agreed = [...texts, words.line("p", "agree"), today, words.line("p", "receipt_digest")];
  const parts = [askedBy(survey, words), ...contact, ...agreed, element("code", {}, digest)];
  saveCopy(survey, words, parts.filter(Boolean), "-consent");
}

/** Download a file with this name and text. */
export function giveFile(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/html" }));
  element("a", { href: address, download: name }).click();
  // Not at once: some browsers begin to read it later.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

function fileOf(body) {
  const { dir, lang } = document.documentElement;
  const { textContent } = document.querySelector("style");
  const head = `<html lang="${lang}" dir="${dir}"><meta charset="utf-8">`;
  // Escaped, since this script may stand in a page itself.
  return `<!doctype html>${head}<style>${textContent}<\/style>${new XMLSerializer().serializeToString(body)}<\/html>`;
}

/** What the page in one file is good for, and the button that gives it; `transport` leads to who serves its pieces. */
export function savePagePart(words, survey, transport) {
  const failure = element("p", { role: "alert" });
  const save = async () => {
    failure.replaceChildren();
    try {
      giveFile(`${survey.name}-form.html`, savedPage(await transport.fetchSavedPage(), transport.origin, survey));
    } catch {
      failure.append(words.node("error_load"));
    }
  };
  const hasOwnLink = survey.access === "token" || survey.waves > 1;
  const notes = hasOwnLink ? ["save_page_note", "save_page_link"] : ["save_page_note"];
  const press = row(button(words.node("save_copy"), "", save));
  return element("div", {}, ...notes.map((note) => words.line("p", note)), press, failure);
}

/** The page in one file, with this survey, from its pieces; equal bytes to `sottovoce survey page --file LINK`. */
export function savedPage([policy, setup, rest], origin, { digest, document, name }) {
  const held = JSON.stringify({ name, digest: digest.slice(0, 32), text: dumpCanonical(document) });
  return `${policy}${origin}${setup}${JSON.stringify(origin)},"survey":${held.replaceAll("<", "\\u003c")}${rest}`;
}
