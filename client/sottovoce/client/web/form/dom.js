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

/** Sentences one after the other. */
export function sentences(keys, words) {
  return keys.flatMap((key) => [words.node("gap"), words.node(key)]).slice(1);
}

/** A step under a heading that can take the focus when it begins; `properties` are those of its node. */
export function titled(properties, title, ...content) {
  const start = element("h1", { tabIndex: -1 }, title);
  return { node: element("div", properties, start, ...content), start };
}

/** What can be pressed, in a row. */
export function row(...content) {
  return element("div", { className: "actions" }, ...content);
}

/** A button that does one thing. */
export function button(content, className, onclick) {
  return element("button", { type: "button", className, onclick }, content);
}

/** A fieldset, described by some of its nodes. */
export function group(className, describing, ...content) {
  const node = element("fieldset", { className }, ...content);
  describe(node, ...describing);
  return node;
}

/** Let these nodes, and no others, describe a control; a fault is among them only while there is one. */
export function describe(control, ...describing) {
  const ids = describing.map((node) => node.id).join(" ");
  if (ids) control.setAttribute("aria-describedby", ids);
  else control.removeAttribute("aria-describedby");
}

/** Write each column's name on its cells: on a narrow screen rows are stacked, and the style shows it beside each. */
export function nameCells({ rows: [head, ...rows] }) {
  for (const { cells } of rows) {
    for (const [index, cell] of [...cells].entries()) {
      if (index > 0) cell.dataset.column = head.cells[index].textContent;
    }
  }
}
