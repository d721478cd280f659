import { Form } from "./form.js";
import { Words } from "./words.js";

/** Load the page's sentences and open the form. */
async function start() {
  const [main, status, broken, given] = ["main", "status", "broken", "setup"].map((id) => document.getElementById(id));
  try {
    // A page from elsewhere says which aggregator it reports to; the aggregator's own has no need to.
    const setup = { assets: "../assets/", catalogues: {}, ...JSON.parse(given?.textContent ?? "{}") };
    const words = new Words(await fetchCatalogue("en", setup));
    document.getElementById("footer").replaceChildren(words.said("p", "footer", {}, { lang: words.language, dir: "auto" }));
    status.textContent = words.say("loading");
    const form = new Form(words, main, status);
    // Nothing chosen outlives the visit, not even in the browser's back-forward cache.
    addEventListener("pagehide", () => form.forget());
    await form.open(location.href, navigator.languages, setup);
    form.keep(catalogueAddress("en", setup));
  } catch {
    broken.hidden = false;
  }
}

// The sentences are in the page, or beside it; then the page may hold their digest.
async function fetchCatalogue(language, setup) {
  const given = setup.catalogues[language];
  if (typeof given === "object") return given;
  const address = catalogueAddress(language, setup);
  // No options where there is no digest: only then is it the request that the page has already started.
  const reply = await (given ? fetch(address, { integrity: given }) : fetch(address));
  return reply.json();
}

function catalogueAddress(language, { assets }) {
  return `${assets}catalogues/${language}.json`;
}

if (globalThis.document) {
  // Another link in the same tab changes only the fragment; coming back may show a page frozen in memory.
  addEventListener("hashchange", () => location.reload());
  addEventListener("pageshow", (event) => event.persisted && location.reload());
  start();
}
