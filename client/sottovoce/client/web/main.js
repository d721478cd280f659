import { Form } from "./form.js";
import { Words } from "./words.js";

/** Load the page's sentences and open the form. */
async function start() {
  const [main, status, broken] = ["main", "status", "broken"].map((id) => document.getElementById(id));
  try {
    // No options: only then is it the request that the page has already started.
    const reply = await fetch("../assets/catalogues/en.json");
    const words = new Words(await reply.json());
    document.getElementById("footer").replaceChildren(words.said("p", "footer", {}, { lang: words.language, dir: "auto" }));
    status.textContent = words.say("loading");
    const form = new Form(words, main, status);
    // Nothing chosen outlives the visit, not even in the browser's back-forward cache.
    addEventListener("pagehide", () => form.forget());
    await form.open(location.href, navigator.languages);
  } catch {
    broken.hidden = false;
  }
}

if (globalThis.document) {
  // Another link in the same tab changes only the fragment; coming back may show a page frozen in memory.
  addEventListener("hashchange", () => location.reload());
  addEventListener("pageshow", (event) => event.persisted && location.reload());
  start();
}
