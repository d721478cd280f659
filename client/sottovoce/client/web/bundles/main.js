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
    const words = new Words((tag, part) => loadSentences(`${tag}.${part}`, setup), navigator.languages);
    const frame = () => {
      footer.replaceChildren(words.said("p", "footer"));
      // The choice of a language comes with the second file; without it, the device's languages hold.
      load("later", words).then(({ languageChoice }) => header.replaceChildren(...languageChoice(words)), () => {});
    };
    const form = new Form(words, new Stage(words, main, status, frame));
    // Nothing chosen outlives the visit, not even in the browser's back-forward cache.
    addEventListener("pagehide", () => form.forget());
    await form.open(location.href, setup);
    form.keep((name) => sentencesAddress(name, setup));
  } catch {
    broken.hidden = false;
  }
}

// The sentences are in the page, or beside it; then the page may hold their digest.
async function loadSentences(name, setup) {
  const given = setup.catalogues[name];
  if (typeof given === "object") return given;
  const reply = await fetch(sentencesAddress(name, setup), given && { integrity: given });
  if (!reply.ok) throw new Error("no sentences");
  return reply.json();
}

function sentencesAddress(name, { assets }) {
  return `${assets}catalogues/${name}.json`;
}

if (globalThis.document) {
  // Another link in the same tab changes only the fragment; coming back may show a page frozen in memory.
  addEventListener("hashchange", () => location.reload());
  addEventListener("pageshow", (event) => event.persisted && location.reload());
  start();
}
