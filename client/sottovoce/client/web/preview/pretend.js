import { PretendedStorage } from "./storage.js";
import { pretendedFetch } from "./aggregator.js";

/**
 * Before the form begins: put what is pretended in the place of everything by which it reaches others or leaves
 * something behind. The page's setup holds the survey, and the languages of the device that is pretended.
 */
export function pretend(scope = globalThis) {
  const { languages, survey } = JSON.parse(scope.document.getElementById("setup").textContent);
  const instead = [
    [scope, "fetch", pretendedFetch(survey)],
    [scope, "indexedDB", new PretendedStorage()],
    [scope, "caches", undefined],
    [scope.navigator, "serviceWorker", undefined],
    [scope.navigator, "languages", languages],
  ];
  for (const [holder, name, value] of instead) Object.defineProperty(holder, name, { value });
}
