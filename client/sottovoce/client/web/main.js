import { Form } from "./form.js";
import { load } from "./loading.js";
import { Words } from "./words.js";

/** Open the form, in the reader's language. */
async function start() {
  const [main, status, broken, header, footer] = ["main", "status", "broken", "header", "footer"].map((id) => document.getElementById(id));
  try {
    const words = new Words(loadCatalogue, navigator.languages);
    const frame = () => {
      footer.replaceChildren(words.said("p", "footer"));
      // The choice of a language comes with the second file; without it, the device's languages hold.
      load().then(({ languageChoice }) => header.replaceChildren(...languageChoice(words)), () => {});
    };
    const form = new Form(words, main, status, frame);
    // Nothing chosen outlives the visit, not even in the browser's back-forward cache.
    addEventListener("pagehide", () => form.forget());
    await form.open(location.href);
  } catch {
    broken.hidden = false;
  }
}

async function loadCatalogue(tag) {
  const reply = await fetch(`../assets/catalogues/${tag}.json`);
  if (!reply.ok) throw new Error("no catalogue");
  return reply.json();
}

if (globalThis.document) {
  // Another link in the same tab changes only the fragment; coming back may show a page frozen in memory.
  addEventListener("hashchange", () => location.reload());
  addEventListener("pageshow", (event) => event.persisted && location.reload());
  start();
}
