const SECONDS_OF_HOUR = 3600;
// At the moment in which a wave ends no report is taken any more, and clocks differ.
const BEFORE_THE_END = 300;
// Drawing and recording may take so long: what is recorded shortly before a moment is sent at the next one.
const TO_RECORD = 2;

/**
 * When a report is to be sent, in seconds since 1970, drawn after its values: a random moment, five minutes or more
 * before the wave ends; or the next whole multiple of the survey's seconds since it was opened; 0 where it does not
 * wait. Bytes: those of one `below`, or none. See the Python twin.
 */
export function drawSendAt(survey, wave, draws) {
  const [present, longest] = [Date.now() / 1000, longestWait(survey, wave)];
  const { send_at_seconds: period } = survey.document.privacy;
  if (period === undefined) return Math.floor(present) + draws.below(longest + 1);
  return longest && Math.round(present + Math.min(longest, untilMultiple(period, elapsed())));
}

/** The longest that a report drawn now would wait, in seconds; 0 where it is sent at once. See the Python twin. */
export function longestWait({ document }, wave) {
  const { send_at_seconds: period, send_within_hours: hours = 0 } = document.privacy;
  const { closes } = document.waves?.[wave] ?? document;
  const left = closes ? Date.parse(closes) / 1000 - Math.floor(Date.now() / 1000) - BEFORE_THE_END : Infinity;
  return Math.max(0, Math.min(period ? period + TO_RECORD : hours * SECONDS_OF_HOUR, left));
}

function untilMultiple(period, seconds) {
  return (Math.floor((seconds + TO_RECORD) / period) + 1) * period - seconds;
}

// Seconds since the first page of the visit was opened, reloads or not, by a clock that nothing sets back.
function elapsed() {
  const now = performance.timeOrigin + performance.now();
  return (now - (globalThis.history?.state?.since ?? performance.timeOrigin)) / 1000;
}
