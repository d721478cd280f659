import { controlFor } from "./controls.js";
import { element } from "./dom.js";
import { procedure } from "./own_coin.js";
import { showEpsilon } from "./rational.js";

/**
 * What stands on the page for one item: `{ item, node, fields }`.
 *
 * A field is what can be answered: its `label`, `node`, `read()`, `clear()`, `fits()`, `fault` and that one's sentence
 * `telling`, and `faulty()`, which marks what does not fit and gives the input to begin with. Those of questions have
 * a `question`.
 *
 * @param place `{ index, first, number, total }`: which of the items it is, the place of its first question in the
 *   report, and the how-manieth it is of how many that ask
 */
export function partOf(item, { index: position, first, ...count }, survey, words) {
  const { questions, rows, type } = item;
  if (type === "note") return { item, fields: [], node: element("div", { className: "note" }, ...noteTexts(item, words, "p")) };
  if (type === "acknowledge") return acknowledgePart(item, `a${position}`, words);
  const id = `${rows.length ? "m" : "q"}${first}`;
  const number = words.said("span", "question_number", count, { className: "number" });
  const legend = element("legend", {}, number, words.text("span", item.label, { id: `${id}-label` }));
  const before = item.hint === null ? [] : [words.text("p", item.hint, { className: "hint", id: `${id}-hint` })];
  if (survey.ownCoin && questions[0].mechanism !== null) before.push(byHand(questions[0], id, words, rows));
  const odds = element("p", { className: "odds", id: `${id}-odds` }, ...each(rows, words), badge(questions[0], words), " ");
  odds.append(words.odds(questions[0]));
  if (rows.length === 0) {
    const field = questionField(questions[0], id, words, { legend, before, after: [odds] });
    return { item, fields: [field], node: field.node };
  }
  const fields = questions.map((question, index) => rowField(question, `q${first + index}`, words, rows[index]));
  const node = group("matrix", [...before, odds], legend, ...before, ...fields.map((field) => field.node), odds);
  return { item, fields, node };
}

function questionField(question, id, words, { legend, before = [], after = [], inRow = false }) {
  const control = controlFor(question, id, words, inRow);
  const fault = words.said("p", ...control.fault, { className: "missing", id: `${id}-fault`, hidden: true });
  const notes = control.note ? [...before, words.said("p", ...control.note, { className: "hint", id: `${id}-note` })] : before;
  const node = group("", [...notes, ...after, fault], legend, ...notes, fault, ...control.nodes, ...after);
  const fits = () => control.read() !== undefined && canEncode(question, control.read());
  return { ...control, question, label: question.label, node, fault, telling: control.fault, fits };
}

function rowField(question, id, words, row) {
  const legend = element("legend", {}, words.text("span", row, { id: `${id}-label` }));
  return questionField(question, id, words, { legend, inRow: true });
}

// Something to tick before going on; nothing about it is sent.
function acknowledgePart(item, id, words) {
  const input = element("input", { type: "checkbox", id });
  const fault = words.said("p", "acknowledge_fault", {}, { className: "missing", id: `${id}-fault`, hidden: true });
  const [label, ...notes] = noteTexts(item, words, "span");
  const tick = element("label", { className: "option" }, input, words.node("acknowledged"));
  const note = words.said("p", "acknowledge_note", {}, { className: "hint", id: `${id}-note` });
  const node = group("", [fault, note], element("legend", {}, label), ...notes, fault, tick, note);
  const field = { label: item.label, node, fault, telling: ["acknowledge_fault"], faulty: () => input };
  return { item, node, fields: [{ ...field, fits: () => input.checked, clear: () => (input.checked = false) }] };
}

function noteTexts({ hint, label }, words, tag) {
  return [words.text(tag, label), ...(hint === null ? [] : [words.text("p", hint, { className: "hint" })])];
}

// What to do with a coin or a die, in the words of the channel's own procedure.
function byHand({ mechanism }, id, words, rows) {
  const { flips, parts } = procedure(mechanism);
  const steps = parts.map(([action, outcomes]) =>
    words.said("li", `own_${action}`, () => ({ outcome: outcomeOf(flips, outcomes, words) })),
  );
  const first = element("p", {}, ...each(rows, words), words.node(flips ? "own_coin" : "own_die", { flips }));
  const note = words.said("p", "own_note", {}, { className: "hint" });
  return element("div", { className: "by-hand", id: `${id}-hand` }, first, element("ul", {}, ...steps), note);
}

// One toss for two rows would let one answer tell the other.
function each(rows, words) {
  return rows.length ? [words.node("each_row"), " "] : [];
}

// What a coin or a die shows.
function outcomeOf(flips, outcomes, words) {
  const [first, last] = outcomes;
  if (flips === 0) return first === last ? first : words.say("range", { first, last });
  const sides = (row) => [...row].map((side) => words.say(side === "H" ? "heads" : "tails"));
  const joined = (key, texts) => texts.reduce((one, other) => words.say(key, { first: one, second: other }));
  return joined("or", outcomes.map((row) => joined("then", sides(row))));
}

function group(className, describing, ...content) {
  return element("fieldset", { className, "aria-describedby": describing.map((node) => node.id).join(" ") }, ...content);
}

function badge(question, words) {
  if (question.mechanism === null) return words.said("span", "public", {}, { className: "badge public" });
  return words.said("span", "question_epsilon", { epsilon: showEpsilon(question.epsilon) }, { className: "badge" });
}

function canEncode(question, answer) {
  try {
    question.encode(answer);
    return true;
  } catch {
    return false;
  }
}
