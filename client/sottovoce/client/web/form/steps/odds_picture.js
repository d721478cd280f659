import { element } from "../dom.js";

const SVG = "http://www.w3.org/2000/svg";

/** The question whose mechanism gives away most, the first of equals; undefined if every question is public. */
export function mostRevealing(survey) {
  const asked = survey.questions.filter((question) => question.mechanism);
  return asked.sort((one, other) => other.epsilon - one.epsilon)[0];
}

/** The odds of a question: so many of 100 dots, and the same in words, which is all that a screen reader reads. */
export function oddsPicture(question, words) {
  const shares = Object.values(question.mechanism.explain()).filter(Array.isArray);
  const grids = shares.slice(0, 2).map((share, index) => {
    const number = words.said("b", "grid_share", { share: () => words.share(...share) });
    const label = element("p", {}, number, words.node(["grid_own", "grid_other"][index]));
    return element("div", { className: "share", "aria-hidden": true }, dots(...share), label);
  });
  return element("figure", {}, ...grids, element("figcaption", {}, words.odds(question)));
}

// Ten rows of ten; a share that rounds to none or to all of them is neither.
function dots(part, whole) {
  const filled = Math.min(99, Math.max(1, Math.round((100 * part) / whole)));
  const grid = shape("svg", { viewBox: "0 0 100 100" });
  grid.append(path("on", 0, filled), path("off", filled, 100));
  return grid;
}

// One path of very short strokes, whose round ends make them dots.
function path(name, first, last) {
  const places = Array.from({ length: last - first }, (_, index) => first + index);
  const d = places.map((place) => `M${(place % 10) * 10 + 5} ${Math.floor(place / 10) * 10 + 5}h.01`).join("");
  return shape("path", { class: name, d });
}

function shape(tag, attributes) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}
