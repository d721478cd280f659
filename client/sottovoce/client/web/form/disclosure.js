import { element } from "./dom.js";
import { need } from "../registry.js";

/**
 * Something few people open: under `summary`, a key of the catalogue, what the function with this name makes of `words`
 * and of the rest; it is loaded when a person opens it.
 */
export function disclosure(words, summary, name, ...rest) {
  const content = element("div", {}, "");
  const node = element("details", {}, words.line("summary", summary), content);
  let isFilled = false;
  node.addEventListener("toggle", async () => {
    if (!node.open || isFilled) return;
    const filling = await need(name).then((fill) => fill(words, ...rest), () => null);
    isFilled ||= filling !== null;
    content.replaceChildren(filling ?? words.line("p", "error_load"));
  });
  return node;
}
