const RIGHT_TO_LEFT = ["Adlm", "Arab", "Hebr", "Nkoo", "Rohg", "Syrc", "Thaa"];
const GROUPED = /^(?:-?[1-9]\d{0,2})([.,])\d{3}$/;

/**
 * The first wanted language that is offered: the very same, else what it likely stands for (zh-CN is zh-Hans-CN), else
 * the same in its script, else the same at all; null if none is.
 */
export function chooseLanguage(offered, wanted) {
  for (const tag of wanted) {
    for (const [reach, reading] of readings(tag).entries()) {
      const match = offered.find((candidate) => readings(candidate)[reach] === reading);
      if (match !== undefined) return match;
    }
  }
  return null;
}

// A tag, the whole tag it likely stands for, that without the place, and the language alone.
function readings(tag) {
  try {
    const likely = new Intl.Locale(tag).maximize();
    return [tag.toLowerCase(), likely.baseName, `${likely.language}-${likely.script}`, likely.language];
  } catch {
    return [tag.toLowerCase()];
  }
}

/** "rtl" or "ltr". */
export function direction(language) {
  const [, , written = ""] = readings(language);
  return RIGHT_TO_LEFT.includes(written.slice(-4)) ? "rtl" : "ltr";
}

/** What stands before the tenths; digits are Latin in every language, as in the bytes that are sent. */
export function decimalPoint(language) {
  const format = new Intl.NumberFormat(language, { numberingSystem: "latn" });
  return format.formatToParts(1.5).find(({ type }) => type === "decimal").value;
}

/**
 * A number as somebody typed it, in whichever digits, written with a point as `parseDecimal` reads it.
 *
 * Comma and point both stand before the tenths, except where thousands may be meant: there only `point` does, else the
 * result is "". In English 1,000 is never 1.
 */
export function typedNumber(text, point) {
  const latin = text.replace(/[\u200e\u200f\u061c]/g, "").trim().replace(/[٠-٩۰-۹०-९０-９]/g, digit);
  const number = latin.replace(/^[−－]/, "-").replace(/[٫．]/, ".");
  const sign = GROUPED.exec(number)?.[1] ?? point;
  return sign === point ? number.replace(",", ".") : "";
}

// Three of the scripts' zeros end in 0 in hexadecimal; the Devanagari one in 6.
function digit(character) {
  const code = character.codePointAt(0);
  return code >= 0x966 && code <= 0x96f ? code - 0x966 : code % 16;
}
