import { element } from "./dom.js";

/**
 * Something few people open: under `summary`, a key of the catalogue, the node that `fill` gives; it is asked for when
 * a person opens it.
 */
export function disclosure(words, summary, fill) {
  const content = element("div", {}, "");
  const node = element("details", {}, words.line("summary", summary), content);
  let isFilled = false;
  node.addEventListener("toggle", async () => {
    if (!node.open || isFilled) return;
    const filling = await fill().catch(() => null);
    isFilled ||= filling !== null;
    content.replaceChildren(filling ?? words.line("p", "error_load"));
  });
  return node;
}
