import { Form } from "./form.js";
import { StepView } from "./step_view.js";
import { Words } from "./words.js";
import { laterPartsFrom } from "./parts.js";

/**
 * Open the form, where there is a document for it. Sentences are beside the script, whose address is `here`;
 * `fetchModule` gives the module in a later part's file, where there are any.
 */
export function start(here, fetchModule = null) {
  if (fetchModule !== null) laterPartsFrom(fetchModule);
  if (!globalThis.document) return;
  // Another link in the same tab changes only the fragment; coming back may show a page frozen in memory.
  addEventListener("hashchange", () => location.reload());
  addEventListener("pageshow", (event) => event.persisted && location.reload());
  openForm(here);
}

// In the reader's language.
async function openForm(here) {
  const names = ["main", "status", "broken", "header", "footer", "setup"];
  const [main, status, broken, header, footer, given] = names.map((id) => document.getElementById(id));
  broken.hidden = true;
  try {
    // A page from elsewhere says which aggregator it reports to; the aggregator's own has no need to.
    const setup = { catalogues: {}, ...JSON.parse(given?.textContent ?? "{}") };
    const addressOf = (tag) => new URL(`catalogues/${tag}.json`, here).href;
    const load = (tag) => fetchSentences(addressOf(tag), setup.catalogues[tag]);
    // The device's languages after the one that the link names; and what was chosen before the page was loaded again.
    const named = new URLSearchParams(location.hash.slice(1)).get("lang") ?? [];
    const words = new Words(load, [named, navigator.languages].flat(), [history.state?.language ?? []].flat());
    const frame = () => {
      footer.replaceChildren(words.line("p", "footer"));
      // The choice of a language comes with the second file; without it, the device's languages hold.
      const choice = import("./language_choice.js");
      choice.then(({ languageChoice }) => header.append(...languageChoice(words)), () => {});
    };
    const form = new Form(words, new StepView(words, main, status, frame));
    // Nothing chosen outlives the visit, not even in the browser's back-forward cache.
    addEventListener("pagehide", () => form.forget());
    await form.open(location.href, setup);
    form.keep(addressOf);
  } catch {
    broken.hidden = false;
  }
}

// The sentences are in the page, or beside it; then the page may hold their digest.
async function fetchSentences(address, given) {
  if (typeof given === "object") return given;
  const reply = await fetch(address, given && { integrity: given });
  if (!reply.ok) throw new Error("no sentences");
  return reply.json();
}
