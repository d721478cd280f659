import { element } from "../dom.js";
import { procedure } from "../../survey/own_coin.js";

const SENTENCES = { truth: "own_truth", opposite: "own_opposite", yes: "own_yes", no: "own_no" };

/** What to do with a coin or a die, after the nodes `before`, in the words of the channel's own procedure. */
export function byHand({ mechanism }, id, words, before) {
  const { flips, parts } = procedure(mechanism);
  const steps = parts.map(([action, outcomes]) =>
    words.line("li", SENTENCES[action], () => ({ outcome: outcomeOf(flips, outcomes, words) })),
  );
  const first = element("p", {}, ...before, words.node(flips ? "own_coin" : "own_die", { flips }));
  const note = words.line("p", "own_note", {}, { className: "hint" });
  return element("div", { className: "by-hand", id: `${id}-hand` }, first, element("ul", {}, ...steps), note);
}

// What a coin or a die shows.
function outcomeOf(flips, outcomes, words) {
  const [first, last] = outcomes;
  if (flips === 0) return first === last ? first : words.translate("range", { first, last });
  const sides = (row) => [...row].map((side) => words.translate(side === "H" ? "heads" : "tails"));
  const joined = (key, texts) => texts.reduce((one, other) => words.translate(key, { first: one, second: other }));
  return joined("or", outcomes.map((row) => joined("then", sides(row))));
}
