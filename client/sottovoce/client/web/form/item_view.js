import { controlFor } from "./choice_input.js";
import { element, group } from "./dom.js";
import { ITEM_VIEWS, provided } from "../registry.js";
import { showEpsilon } from "../survey/rational.js";

/**
 * What stands on the page for one item: `{ item, node, fields }`.
 *
 * A field is what can be answered: its `label`, `node`, `read()`, `clear()`, `fits()`, `fault` and that one's sentence
 * `faultWords`, and `faulty()`, which marks what does not fit and gives the input to begin with. Those of questions
 * have a `question`.
 *
 * @param place `{ index, first, number, total }`: which of the items it is, the place of its first question in the
 *   report, and the how-manieth it is of how many that ask everybody (null: it is not shown to all)
 */
export function partOf(item, place, survey, words) {
  const view = ITEM_VIEWS.get(item.type);
  return view ? view(item, `a${place.index}`, words) : askingPart(item, place, survey, words);
}

function askingPart(item, { index: _, first, ...count }, survey, words) {
  const { questions, rows } = item;
  const id = `${rows.length ? "m" : "q"}${first}`;
  const sentence = count.number === null ? "question_further" : "question_number";
  const number = words.line("span", sentence, count, { className: "number" });
  const legend = element("legend", {}, number, words.text("span", item.label, { id: `${id}-label` }));
  const before = item.hint === null ? [] : [words.text("p", item.hint, { className: "hint", id: `${id}-hint` })];
  if (survey.ownCoin && questions[0].mechanism !== null) {
    before.push(provided("byHand")(questions[0], id, words, each(rows, words)));
  }
  const odds = element("p", { className: "odds", id: `${id}-odds` }, ...each(rows, words));
  odds.append(badge(questions[0], words), " ", words.odds(questions[0]));
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
  const fault = words.line("p", ...control.fault, { className: "missing", id: `${id}-fault`, hidden: true });
  const note = control.note ? [words.line("p", ...control.note, { className: "hint", id: `${id}-note` })] : [];
  const notes = [...before, ...note];
  const node = group("", [...notes, ...after, fault], legend, ...notes, fault, ...control.nodes, ...after);
  const fits = () => control.read() !== undefined && canEncode(question, control.read());
  return { ...control, question, label: question.label, node, fault, faultWords: control.fault, fits };
}

function rowField(question, id, words, row) {
  const legend = element("legend", {}, words.text("span", row, { id: `${id}-label` }));
  return questionField(question, id, words, { legend, inRow: true });
}

// One toss for two rows would let one answer tell the other.
function each(rows, words) {
  return rows.length ? [words.node("each_row"), " "] : [];
}

function badge(question, words) {
  if (question.mechanism === null) return words.line("span", "public", {}, { className: "badge public" });
  return words.line("span", "question_epsilon", { epsilon: showEpsilon(question.epsilon) }, { className: "badge" });
}

function canEncode(question, answer) {
  try {
    question.encode(answer);
    return true;
  } catch {
    return false;
  }
}
