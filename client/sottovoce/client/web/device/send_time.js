const PERIOD = 500;

/**
 * Do the work that touches true answers, and come back at a moment that says nothing about it: the second multiple of
 * half a second, on a clock that nothing sets back, after the call.
 *
 * Hidden is how long encoding, drawing and writing took. Work that takes longer than half a second to a second ends at
 * a later multiple. Not hidden is, to half a second, when a person pressed, and so how long she thought.
 *
 * @param clock gives milliseconds
 * @param timer resolves after so many milliseconds
 */
export async function atSendTime(work, clock = () => performance.now(), timer = wait) {
  let due = following(clock()) + PERIOD;
  const result = await work();
  if (clock() > due) due = following(clock());
  for (let left; (left = due - clock()) > 0; ) await timer(left);
  return result;
}

function following(moment) {
  return (Math.floor(moment / PERIOD) + 1) * PERIOD;
}

function wait(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
