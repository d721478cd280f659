import { element } from "../dom.js";
import { shareOf100 } from "../odds_words.js";

const SVG = "http://www.w3.org/2000/svg";

/**
 * The odds of a question: so many of 100 dots. Of a yes or no the two labels say all; other odds have a sentence, and
 * that is what a screen reader reads.
 */
export function oddsPicture(question, words) {
  const isYesNo = question.mechanism.reportKind === "yes_no" && question.mechanism.procedure !== "crosswise";
  const labels = isYesNo ? ["grid_yes", "grid_no"] : ["grid_own", "grid_other"];
  const shares = Object.values(question.mechanism.explain()).filter(Array.isArray);
  const grids = shares.slice(0, 2).map((share, index) => {
    const number = words.line("b", "grid_share", { share: () => shareOf100(...share, words) });
    const label = element("p", {}, number, " ", words.node(labels[index]));
    return element("div", { className: "share", "aria-hidden": !isYesNo }, dots(...share), label);
  });
  const sentence = isYesNo ? [] : [element("figcaption", {}, words.odds(question))];
  return element("figure", {}, ...grids, ...sentence);
}

// Ten rows of ten; a share that rounds to none or to all of them is neither. The words beside them tell the same.
function dots(part, whole) {
  const filled = Math.min(99, Math.max(1, Math.round((100 * part) / whole)));
  const node = shape("svg", { viewBox: "0 0 100 100", "aria-hidden": true });
  node.append(dotted("on", 0, filled), dotted("off", filled, 100));
  return node;
}

// One path of very short strokes, whose round ends make them dots; its class gives it its look.
function dotted(name, first, last) {
  const places = Array.from({ length: last - first }, (_, index) => first + index);
  const d = places.map((place) => `M${(place % 10) * 10 + 5} ${Math.floor(place / 10) * 10 + 5}h.01`).join("");
  return shape("path", { class: name, d });
}

function shape(tag, attributes) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}
