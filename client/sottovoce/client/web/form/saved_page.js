import { button, element } from "./dom.js";
import { dumpCanonical } from "../survey/canonical.js";
import { giveFile } from "./saved_copy.js";

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
  const row = element("div", { className: "actions" }, button(words.node("save_copy"), "", save));
  return element("div", {}, ...notes.map((note) => words.line("p", note)), row, failure);
}

/** The page in one file, with this survey, from its pieces; equal bytes to `sottovoce survey page --file LINK`. */
export function savedPage([policy, setup, rest], origin, { digest, document, name }) {
  const held = JSON.stringify({ name, digest: digest.slice(0, 32), text: dumpCanonical(document) });
  return `${policy}${origin}${setup}${JSON.stringify(origin)},"survey":${held.replaceAll("<", "\\u003c")}${rest}`;
}
