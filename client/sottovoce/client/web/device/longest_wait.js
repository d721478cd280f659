const SECONDS_OF_HOUR = 3600;
// At the moment in which a wave ends no report is taken any more, and clocks differ.
const BEFORE_THE_END = 300;

/** The longest that a report drawn now would wait, in seconds; 0 where it is sent at once. See the Python twin. */
export function longestWait({ document, sendWithinHours }, wave) {
  const { closes } = document.waves?.[wave] ?? document;
  const left = closes ? Date.parse(closes) / 1000 - Math.floor(Date.now() / 1000) - BEFORE_THE_END : Infinity;
  return Math.max(0, Math.min(sendWithinHours * SECONDS_OF_HOUR, left));
}
