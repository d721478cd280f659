// The scripts under audit, loaded as a page loads them, on a platform that has what a browser gives them.
import { KeyRange } from "./javascript_storage.mjs";

const { Date: SystemDate } = globalThis;
// Where reports wait for their moment: what the clock shows, in seconds since 1970; null for the system's own.
const clock = { moment: null };

/** Let the clock of the platform show a moment, in seconds since 1970. */
export function setClock(moment) {
  clock.moment = moment;
}

class PlatformDate extends SystemDate {
  constructor(...given) {
    super(...(given.length === 0 ? [PlatformDate.now()] : given));
  }

  static now() {
    return clock.moment === null ? SystemDate.now() : clock.moment * 1000;
  }
}

/** Everything that the scripts export. */
export async function loadProduct(scripts) {
  Object.assign(globalThis, { isSecureContext: true, IDBKeyRange: KeyRange, Date: PlatformDate });
  return Object.assign({}, ...(await Promise.all(scripts.map((script) => import(`./${script}`)))));
}
