/**
 * A day ("2026-05-12"), or a moment ("2026-05-12T09:00:00Z") by the reader's own clock, in the page's language; with
 * Latin digits, as everything that the page says.
 */
export function whenInWords(text, words) {
  const isDay = text.length === 10;
  const style = isDay ? { dateStyle: "long", timeZone: "UTC" } : { dateStyle: "long", timeStyle: "short" };
  return new Intl.DateTimeFormat(`${words.language}-u-nu-latn`, style).format(new Date(text));
}
