import { element } from "./dom.js";

const MOST = 1 / 5;

/**
 * A row of buttons that stays in sight at the lower edge of the window, unless it would take more than a fifth of its
 * height, as with large text: then it stands where the text ends.
 */
export function bar(buttons) {
  const node = element("div", { className: "actions bar" }, ...buttons);
  const fit = () => {
    if (node.isConnected) node.classList.toggle("stays", node.offsetHeight <= MOST * innerHeight);
    else removeEventListener("resize", fit);
  };
  // Its own height changes with the text; the window's does not tell it of itself.
  new ResizeObserver(fit).observe(node);
  addEventListener("resize", fit);
  return node;
}
