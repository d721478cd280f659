const TRUE = 3 / 4;
const FALSE = 1 / 4;
const Z = 1.959963984540054;

/**
 * Share of yes among `n` people of whom `yes` report yes by the coin flip, with 95 % limits: the program's score limits
 * with continuity correction, at the count clipped to what the channel can give.
 */
export function estimateShare(yes, n) {
  const count = Math.min(Math.max(yes, n * FALSE), n * TRUE);
  const low = count <= 0.5 ? 0 : scoreLimit(Math.max(count - 0.5, 0), n, -Z);
  const high = count >= n - 0.5 ? 1 : scoreLimit(Math.min(count + 0.5, n), n, Z);
  return { share: shareOf(count / n), low: shareOf(low), high: shareOf(high) };
}

function scoreLimit(count, n, z) {
  const half = z * Math.sqrt((count * (n - count)) / n + (z * z) / 4);
  return (count + (z * z) / 2 + half) / (n + z * z);
}

function shareOf(reported) {
  return Math.min(Math.max((reported - FALSE) / (TRUE - FALSE), 0), 1);
}
