const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const ONCE = ["no", "device", "visit"];
const CHECK = 1_048_576n;
const PRIME = 1_048_573n;
const RADIX = 20n;

/**
 * The code of a report, as `link_question.py` writes it: `digest` of the question, `size` of its reports, both of them
 * `BigInt` like `report`, which is null if nothing was answered; `once` is true, false, or one of `ONCE`.
 */
export function writeCode(digest, size, report, once) {
  const place = BigInt(Math.max(ONCE.indexOf(once), once === true ? 1 : 0));
  const first = BigInt(`0x${digest.slice(0, 10)}`) * 3n + place;
  const held = (first * (size + 1n) + (report === null ? 0n : report + 1n)) * CHECK;
  let number = held + ((PRIME - (held % PRIME)) % PRIME);
  let letters = "";
  for (let most = CHECK * CHECK * CHECK * 3n * (size + 1n) - 1n; most > 0n; most /= RADIX) {
    letters = LETTERS[Number(number % RADIX)] + letters;
    number /= RADIX;
  }
  return letters;
}
