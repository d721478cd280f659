// As much of a document as the steps of the form need: elements that hold what is put into them, and are pressed.
import { watched } from "./javascript_device.mjs";

// What is fetched as soon as it is named, whether the element stands in the page or not.
const PLAIN = new Set(
  "main p div span h1 h2 h3 h4 ul ol li dl dt dd a b em strong small code pre section form fieldset legend label input "
    .concat("button select option optgroup textarea details summary table caption thead tbody tr th td time output br ")
    .concat("html dialog nav figure figcaption progress meter svg path rect circle line text g title desc polyline")
    .split(" "),
);
const ADDRESSES = ["src", "srcset", "href", "data", "poster", "action", "formAction", "ping", "background", "srcdoc"];
// How often an element was put somewhere or taken away, in the whole page.
let moves = 0;
// What is not set is simply not there; whatever else is asked of an element, or set on it, is told.
const QUIET = new Set(
  "id className type name value checked disabled htmlFor lang dir role tabIndex title autocomplete open noValidate"
    .concat(" method rel target inputMode min max step required scope then toJSON")
    .split(" "),
);
const isQuiet = (name) => typeof name === "symbol" || QUIET.has(name) || /^(?:@|on|aria)/.test(name);
let [tellAddress, tellMore, tellPage] = [() => {}, () => {}, () => {}];

/** An element; whatever is set on it stays on it. */
export class PageElement {
  tag = "";
  children = [];
  dataset = {};
  hidden = false;
  #parent = null;
  #listeners = [];
  #listed = { elements: [], after: -1 };

  constructor(tag) {
    this.tag = tag;
    if (!PLAIN.has(tag)) tellAddress(tag, "");
    if (tag === "input") Object.assign(this, { checked: false, disabled: false, value: "" });
  }

  classList = { toggle: () => {} };
  offsetHeight = 0;
  focus() {}
  setAttribute(name, value) {
    if (ADDRESSES.includes(name)) tellAddress(name, String(value));
    this[`@${name}`] = String(value);
  }
  removeAttribute(name) {
    delete this[`@${name}`];
  }
  addEventListener(type, listener) {
    this.#listeners.push([type, listener]);
  }

  /** Let something happen to it, and to all around it: whoever listens to the whole page hears of it last. */
  happen(type, target = this) {
    const event = { type, target, preventDefault: () => {}, stopPropagation: () => {} };
    for (const [known, listener] of this.#listeners) if (known === type) listener(event);
    this[`on${type}`]?.(event);
    if (this.#parent) this.#parent.happen(type, target);
    else tellPage(event);
  }

  append(...nodes) {
    for (const node of nodes) this.children.push(this.#own(node));
  }
  replaceChildren(...nodes) {
    for (const child of this.children) if (child instanceof PageElement) child.#parent = null;
    this.children = [];
    moves += 1;
    this.append(...nodes);
  }
  after(...nodes) {
    this.#beside(1, nodes);
  }
  before(...nodes) {
    this.#beside(0, nodes);
  }
  remove() {
    this.#parent.children = this.#parent.children.filter((child) => child !== this);
    this.#parent = null;
    moves += 1;
  }

  get parent() {
    return this.#parent;
  }
  get firstChild() {
    return this.children[0];
  }
  get isHidden() {
    return this.hidden || (this.#parent?.isHidden ?? false);
  }
  get isConnected() {
    return this.tag === "main" || (this.#parent?.isConnected ?? false);
  }
  get textContent() {
    return this.children.map((child) => child.textContent).join("");
  }
  get cells() {
    return this.children;
  }
  get rows() {
    return this.all((node) => node.tag === "tr");
  }
  querySelector(tag) {
    return this.first((node) => node.tag === tag) ?? null;
  }

  /** All elements within it, itself too, of which something holds. */
  all(holds) {
    return this.#elements.filter(holds);
  }

  /** The first of them. */
  first(holds) {
    return this.#elements.find(holds);
  }

  /** The first that has this id. */
  named(id) {
    const elements = this.#elements;
    const listed = this.#listed;
    listed.ids ??= new Map(elements.map((node) => [node.id, node]).reverse());
    const known = listed.ids.get(id);
    return known?.id === id ? known : this.first((node) => node.id === id);
  }

  // Listed anew only after something has moved: they are looked through far more often.
  get #elements() {
    if (this.#listed.after !== moves) this.#listed = { elements: this.#list([]), after: moves };
    return this.#listed.elements;
  }

  #list(found) {
    found.push(this);
    for (const child of this.children) if (child instanceof PageElement) child.#list(found);
    return found;
  }

  /** Everything that could be seen of it, as a text. */
  shown() {
    const own = Object.entries(this).filter(([, value]) => ["string", "number", "boolean"].includes(typeof value));
    const inside = this.children.map((child) => (child instanceof PageElement ? child.shown() : child.data));
    return `<${JSON.stringify([own, this.dataset])}>${inside.join("")}</>`;
  }

  #own(node) {
    if (!(node instanceof PageElement)) return typeof node === "string" ? textNode(node) : node;
    if (node.#parent) node.remove();
    node.#parent = this;
    moves += 1;
    return node;
  }

  #beside(offset, nodes) {
    const place = this.#parent.children.indexOf(this) + offset;
    this.#parent.children.splice(place, 0, ...nodes.map((node) => this.#parent.#own(node)));
  }
}

function textNode(data) {
  return {
    data,
    get textContent() {
      return this.data;
    },
  };
}

for (const name of ADDRESSES) {
  const own = Symbol(name);
  const set = function (value) {
    tellAddress(`${this.tag} ${name}`, String(value));
    this[own] = value;
  };
  Object.defineProperty(PageElement.prototype, name, { get() { return this[own]; }, set, configurable: true });
}

// What is asked for most often is found before the looks are told.
const OFTEN = ["onclick", "onchange", "oninput", "onsubmit"];
for (const name of [...QUIET, ...OFTEN]) {
  const value = PageElement.prototype[name];
  Object.defineProperty(PageElement.prototype, name, { value, configurable: true, writable: true });
}

// Behind all that an element here has.
Object.setPrototypeOf(
  PageElement.prototype,
  new Proxy(Object.prototype, {
    get(known, name) {
      if (name in known || isQuiet(name)) return known[name];
      tellMore(`${this.tag} get ${name}`);
      return watched(name);
    },
    set(known, name, value, element) {
      if (!isQuiet(name)) tellMore(`${element.tag} set ${name}`, String(value));
      Object.defineProperty(element, name, { value, configurable: true, enumerable: true, writable: true });
      return true;
    },
  }),
);

/**
 * A document whose elements stand nowhere; `tell(name, value)` hears what is set on it, `tellUnknown(...what)` of all
 * that nobody here knows, `heard(event)` of what happens; `elements` are there from the beginning, by their ids.
 */
export function documentFor({ tell, tellUnknown, heard, elements, addEventListener }) {
  [tellAddress, tellMore, tellPage] = [tell, tellUnknown, heard];
  const own = {
    documentElement: new PageElement("html"),
    createElement: (tag) => new PageElement(tag),
    createElementNS: (_, tag) => new PageElement(tag),
    querySelectorAll: () => [],
    getElementById: (id) => elements[id] ?? null,
    addEventListener,
  };
  const set = (_, name, value) => {
    tell(String(name), String(value));
    own[name] = value;
    return true;
  };
  const get = (_, name) => {
    if (name in own || isQuiet(name)) return own[name];
    tellUnknown(`document get ${name}`);
    return watched(name);
  };
  return new Proxy(own, { get, set });
}
