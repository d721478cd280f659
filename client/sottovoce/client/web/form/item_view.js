import { RARE_VIEWS, controlFor } from "./choice_input.js";
import { element, group } from "./dom.js";
import { explained } from "./odds_words.js";
import { showEpsilon } from "../survey/rational.js";

/**
 * What stands on the page for one item: `{ item, node, fields }`.
 *
 * A field is what can be answered: its `label`, `node`, what is `describing` it, `read()`, `clear()`, `fits()`, `fault`
 * and that one's sentence `faultWords`, and `faulty()`, which marks what does not fit and gives the first input.
 * Those of questions have a `question`.
 *
 * @param place `{ index, first, number, total, common }`: which of the items it is, the place of its first question in
 *   the report, the how-manieth it is of how many that ask everybody (null: it is not shown to all), and the odds that
 *   stand above all items, as `spellOdds` has them
 */
export function partOf(item, place, survey, words) {
  if (item.type === "note") return RARE_VIEWS.notePart(item, words);
  if (item.type === "acknowledge") return RARE_VIEWS.acknowledgePart(item, `a${place.index}`, words);
  return askingPart(item, place, survey, words);
}

function askingPart(item, { index: _, first, common, ...count }, survey, words) {
  const { questions, rows } = item;
  const id = `${rows.length ? "m" : "q"}${first}`;
  const sentence = count.number === null ? "question_further" : "question_number";
  const number = words.line("span", sentence, count, { className: "number" });
  const legend = element("legend", {}, number, words.text("span", item.label, { id: `${id}-label` }));
  const before = item.hint === null ? [] : [words.text("p", item.hint, { className: "hint", id: `${id}-hint` })];
  const { mechanism } = questions[0];
  const own = mechanism && (mechanism.procedure ? "secondStatement" : survey.ownCoin && "byHand");
  if (own) before.push(RARE_VIEWS[own](questions[0], id, words, each(rows, words)));
  const after = protection(questions[0], rows, `${id}-odds`, words, common);
  if (rows.length === 0) {
    const field = questionField(questions[0], id, words, { legend, before, after });
    return { item, fields: [field], node: field.node };
  }
  const fields = questions.map((question, index) => rowField(question, `q${first + index}`, words, rows[index]));
  const describing = [...before, ...after.filter(({ id: own }) => own)];
  const node = group("matrix", describing, legend, ...before, ...fields.map((field) => field.node), ...after);
  return { item, fields, node };
}

function questionField(question, id, words, { legend, before = [], after = [], inRow = false }) {
  const control = controlFor(question, id, words, inRow);
  const fault = words.line("p", ...control.fault, { className: "missing", id: `${id}-fault`, hidden: true });
  const note = control.note ? [words.line("p", ...control.note, { className: "hint", id: `${id}-note` })] : [];
  const notes = [...before, ...note];
  const describing = [...notes, ...after.filter(({ id: own }) => own)];
  const node = group("", describing, legend, ...notes, fault, ...control.nodes, ...after);
  const fits = () => control.read() !== undefined && canEncode(question, control.read());
  return { ...control, question, label: question.label, node, describing, fault, faultWords: control.fault, fits };
}

function rowField(question, id, words, row) {
  const legend = element("legend", {}, words.text("span", row, { id: `${id}-label` }));
  return questionField(question, id, words, { legend, inRow: true });
}

// One toss for two rows would let one answer tell the other.
function each(rows, words) {
  return rows.length ? [words.node("each_row"), " "] : [];
}

/** The odds of a question in a spelling that is the same for questions with the same sentence. */
export function spellOdds(question, words) {
  return JSON.stringify([explained(question, words), question.neutral]);
}

// The protection of one question: nothing where the sentence above all items says it. What describes it has an id.
function protection(question, rows, id, words, common) {
  if (question.mechanism === null) {
    const badge = words.line("span", question.cohort ? "cohort_note" : "public", {}, { className: "badge" });
    return [element("p", { className: "odds", id }, badge)];
  }
  if (spellOdds(question, words) === common) return [];
  const odds = element("p", { className: "odds" }, ...each(rows, words), words.odds(question));
  const cost = words.line("p", "question_epsilon", { epsilon: showEpsilon(question.epsilon) }, { className: "hint" });
  return [element("details", { className: "odds" }, words.line("summary", "protected"), odds, cost)];
}

function canEncode(question, answer) {
  try {
    question.encode(answer);
    return true;
  } catch {
    return false;
  }
}
