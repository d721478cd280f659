// As much of a document as the steps need to be built and read where there is no browser.
class Text {
  constructor(data) {
    this.data = data;
  }
  get textContent() {
    return this.data;
  }
}

class Element {
  children = [];
  dataset = {};
  hidden = false;

  constructor(tag) {
    this.tag = tag;
  }
  append(...nodes) {
    this.children.push(...nodes.map((node) => (typeof node === "string" ? new Text(node) : node)));
  }
  setAttribute() {}
  removeAttribute() {}
  get firstChild() {
    return this.children[0];
  }
  get textContent() {
    return this.children.map((child) => child.textContent).join("");
  }
  get cells() {
    return this.children;
  }
  get rows() {
    return this.all("tr");
  }
  querySelector(tag) {
    return this.children.flatMap((child) => child.all?.(tag) ?? [])[0] ?? null;
  }
  all(tag) {
    const inside = this.children.flatMap((child) => child.all?.(tag) ?? []);
    return this.tag === tag ? [this, ...inside] : inside;
  }
}

/** Put it where the page's modules look for it. */
export function pretendPage() {
  globalThis.document = {
    documentElement: {},
    createElement: (tag) => new Element(tag),
    querySelectorAll: () => [],
  };
}
