import { element } from "./dom.js";

/**
 * Give a file with these parts of a page, under the survey's title, as they stand in this language; it needs nothing
 * else to be read. Whatever can be opened in it stands open.
 */
export function saveCopy(survey, words, parts) {
  const body = element("main", {}, words.text("h1", survey.title), ...parts);
  for (const details of body.querySelectorAll("details")) details.open = true;
  giveFile(`${survey.name}.html`, fileOf(body));
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
