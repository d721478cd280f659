/**
 * A new element. `properties` are set as properties (`className`, `htmlFor`, `lang`), `aria-...` as attributes;
 * children are nodes or text. Text from a survey only ever becomes a text node.
 */
export function element(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("aria-")) node.setAttribute(name, value);
    else node[name] = value;
  }
  node.append(...children);
  return node;
}

/** A heading that can take the focus when its step begins. */
export function heading(level, text) {
  return element(`h${level}`, { tabIndex: -1 }, text);
}

/** A button that does one thing. */
export function button(text, className, onclick) {
  return element("button", { type: "button", className, onclick }, text);
}

/** A table with a header row; the caption and each row are lists of nodes or text, and the first cell names its row. */
export function table(caption, columns, rows) {
  const head = element("tr", {}, ...columns.map((column) => element("th", { scope: "col" }, column)));
  const body = rows.map(([first, ...others]) =>
    element("tr", {}, element("th", { scope: "row" }, first), ...others.map((cell) => element("td", {}, cell))),
  );
  return element("table", {}, element("caption", {}, ...caption), element("thead", {}, head), element("tbody", {}, ...body));
}
