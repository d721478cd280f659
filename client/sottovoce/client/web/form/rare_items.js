import { element, group } from "./dom.js";

/** Something to read. */
export function notePart(item, words) {
  return { item, fields: [], node: element("div", { className: "note" }, ...noteTexts(item, words, "p")) };
}

/** Something to tick before going on; nothing about it is sent. */
export function acknowledgePart(item, id, words) {
  const input = element("input", { type: "checkbox", id });
  const fault = words.line("p", "acknowledge_fault", {}, { className: "missing", id: `${id}-fault`, hidden: true });
  const [label, ...notes] = noteTexts(item, words, "span");
  const tick = element("label", { className: "option" }, input, words.node("acknowledged"));
  const note = words.line("p", "acknowledge_note", {}, { className: "hint", id: `${id}-note` });
  const node = group("", [note], element("legend", {}, label), ...notes, fault, tick, note);
  const describing = [note];
  const field = { label: item.label, node, describing, fault, faultWords: ["acknowledge_fault"], faulty: () => input };
  return { item, node, fields: [{ ...field, fits: () => input.checked, clear: () => (input.checked = false) }] };
}

function noteTexts({ hint, label }, words, tag) {
  return [words.text(tag, label), ...(hint === null ? [] : [words.text("p", hint, { className: "hint" })])];
}
