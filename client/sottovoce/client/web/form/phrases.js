import { element } from "./dom.js";

/** Who is asking, in one line, and how to ask them; null where the survey does not say. */
export function askedBy({ researcher }, words) {
  if (!researcher) return null;
  const names = [researcher.institution, researcher.name].filter(Boolean).map((texts) => words.text("span", texts));
  const parts = [...names, contactLink(researcher, words, "ask_us")].filter(Boolean);
  return element("p", { className: "asked-by" }, ...parts.flatMap((part) => [" · ", part]).slice(1));
}

/** Link to the researcher's contact under the sentence with this key; null if the survey gives none. */
export function contactLink(researcher, words, key) {
  if (!researcher?.contact) return null;
  const { contact } = researcher;
  const isPage = contact.startsWith("https:");
  const properties = isPage ? { rel: "noopener noreferrer", target: "_blank" } : {};
  return words.line("a", key, {}, { ...properties, href: isPage ? contact : `mailto:${contact}` });
}

/**
 * A day ("2026-05-12"), or a moment ("2026-05-12T09:00:00Z") by the reader's own clock, in the page's language; with
 * Latin digits, as everything that the page says.
 */
export function whenInWords(text, words) {
  const isDay = text.length === 10;
  const style = isDay ? { dateStyle: "long", timeZone: "UTC" } : { dateStyle: "long", timeStyle: "short" };
  return new Intl.DateTimeFormat(`${words.language}-u-nu-latn`, style).format(new Date(text));
}
