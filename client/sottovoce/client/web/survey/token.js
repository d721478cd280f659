const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const TYPED = /^[0-9A-Za-z-]*$/;
const CANONICAL = /^([0-9A-HJKMNP-TV-Z]{16})([0-9A-HJKMNP-TV-Z]{2})?$/;

/**
 * A token's one spelling, 16 letters, from what was typed: in lower case, with hyphens, with letters that look like 0
 * and 1, and with or without the two check letters over the survey's name and the token.
 *
 * @throws {RangeError} not a token for the survey of this name
 */
export function parseToken(text, survey) {
  const spelled = TYPED.test(text) ? text.toUpperCase().replaceAll("-", "").replaceAll("O", "0").replace(/[IL]/g, "1") : "";
  const match = CANONICAL.exec(spelled);
  if (match === null || ![undefined, checkLetters(match[1], survey)].includes(match[2])) throw new RangeError();
  return match[1];
}

// The number that the text spells to the base 37, modulo a prime: every wrong letter and every swap of two moves it.
function checkLetters(token, survey) {
  const value = Array.from(`${survey}/${token}`).reduce((sum, letter) => (sum * 37 + letter.codePointAt(0)) % 1021, 0);
  return ALPHABET[Math.floor(value / 32)] + ALPHABET[value % 32];
}
