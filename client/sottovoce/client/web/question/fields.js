import { element } from "../form/dom.js";

/** A question with its options; what is wrong with the answer comes after them. */
export function fieldsOf(question, control, id, notes, words) {
  const hint = question.hint ? [words.text("p", question.hint, { className: "hint" })] : [];
  const note = control?.note ? [words.line("p", ...control.note, { id: `${id}-note`, className: "hint" })] : [];
  const legend = element("legend", { id: `${id}-label` }, words.text("span", question.label));
  return element("fieldset", {}, legend, ...hint, ...notes, ...note, ...(control?.nodes ?? []));
}

/** The true value of an answer; null for none that fits. */
export function truthOf(question, answer) {
  try {
    return answer === undefined ? null : question.encode(answer);
  } catch {
    return null;
  }
}
