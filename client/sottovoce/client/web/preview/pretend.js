import { PretendedStorage } from "./storage.js";
import { pretendedFetch } from "./aggregator.js";
import { follow } from "./follow.js";

/**
 * Before the form begins: put what is pretended in the place of everything by which it reaches others or leaves
 * something behind. The page's setup holds the survey, the languages of the device that is pretended, and
 * the question to show first.
 */
export function pretend(scope = globalThis) {
  const { languages, survey, at = null } = JSON.parse(scope.document.getElementById("setup").textContent);
  const instead = [
    [scope, "fetch", pretendedFetch(survey)],
    [scope, "indexedDB", new PretendedStorage()],
    [scope, "caches", undefined],
    [scope.navigator, "serviceWorker", undefined],
    [scope.navigator, "languages", languages],
  ];
  for (const [holder, name, value] of instead) Object.defineProperty(holder, name, { value });
  follow(scope, at);
}
