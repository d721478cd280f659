import { element } from "./dom.js";
import { load } from "../bundles/loading.js";

/**
 * Something few people open: under `summary`, a key of the catalogue, the node that `fill` makes of the page's part
 * "aside", which is asked for when it is opened.
 */
export function disclosure(words, summary, fill) {
  const content = element("div", {}, "");
  const node = element("details", {}, words.said("summary", summary), content);
  let isFilled = false;
  node.addEventListener("toggle", async () => {
    if (!node.open || isFilled) return;
    const told = await load("aside").then(fill, () => null);
    isFilled ||= told !== null;
    content.replaceChildren(told ?? words.said("p", "error_load"));
  });
  return node;
}
