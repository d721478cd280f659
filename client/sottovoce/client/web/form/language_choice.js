import { element } from "./dom.js";

/**
 * The choice of a language, each under its own name. What is chosen is kept in the tab's history, so that it is there
 * when the page is loaded again, and nowhere else.
 */
export function languageChoice(words) {
  const select = element("select", { autocomplete: "off" });
  const option = (tag) => element("option", { value: tag, lang: tag, dir: "auto" }, nameOf(tag));
  select.append(...words.languages.map(option));
  const note = words.line("p", "not_translated", {}, { className: "hint", role: "status" });
  const show = () => {
    select.value = words.current;
    note.hidden = !words.foreign;
  };
  // Where its sentences cannot be loaded, the page stays as it was.
  const choose = async () => {
    const language = select.value;
    const keep = () => history.replaceState({ ...history.state, language }, "");
    await words.speak(undefined, [language]).then(keep, () => {});
    show();
  };
  select.addEventListener("change", choose);
  show();
  const label = words.line("span", "language_label", {}, { className: "unseen" });
  return [element("label", { className: "language" }, label, select), note];
}

function nameOf(tag) {
  try {
    return new Intl.DisplayNames([tag], { type: "language" }).of(tag);
  } catch {
    return tag;
  }
}
