const RIGHT_TO_LEFT = ["Adlm", "Arab", "Hebr", "Nkoo", "Rohg", "Syrc", "Thaa"];

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
