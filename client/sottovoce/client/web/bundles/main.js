import { Form } from "../form/form.js";
import { load } from "./loading.js";
import { Stage } from "../form/step_view.js";
import { Words } from "../form/words.js";

/** Open the form, in the reader's language. */
async function start() {
  const [main, status, broken, header, footer, given] = ["main", "status", "broken", "header", "footer", "setup"].map((id) =>
    document.getElementById(id),
  );
  try {
    // A page from elsewhere says which aggregator it reports to; the aggregator's own has no need to.
    const setup = { assets: "../assets/", catalogues: {}, ...JSON.parse(given?.textContent ?? "{}") };
    const words = new Words((tag) => loadSentences(tag, setup), navigator.languages);
    const frame = () => {
      footer.replaceChildren(words.said("p", "footer"));
      // The choice of a language comes with the second file; without it, the device's languages hold.
      load("later").then(({ languageChoice }) => header.replaceChildren(...languageChoice(words)), () => {});
    };
    const form = new Form(words, new Stage(words, main, status, frame));
    // Nothing chosen outlives the visit, not even in the browser's back-forward cache.
    addEventListener("pagehide", () => form.forget());
    await form.open(location.href, setup);
    form.keep((tag) => sentencesAddress(tag, setup));
  } catch {
    broken.hidden = false;
  }
}

// The sentences are in the page, or beside it; then the page may hold their digest.
async function loadSentences(tag, setup) {
  const given = setup.catalogues[tag];
  if (typeof given === "object") return given;
  const reply = await fetch(sentencesAddress(tag, setup), given && { integrity: given });
  if (!reply.ok) throw new Error("no sentences");
  return reply.json();
}

function sentencesAddress(tag, { assets }) {
  return `${assets}catalogues/${tag}.json`;
}

if (globalThis.document) {
  // Another link in the same tab changes only the fragment; coming back may show a page frozen in memory.
  addEventListener("hashchange", () => location.reload());
  addEventListener("pageshow", (event) => event.persisted && location.reload());
  start();
}
