// The bounds of style that Python has from ruff, for JavaScript: functions of at most 60 lines and complexity 12, lines
// of at most 120 characters, and names that mean something.
const BOUNDS = {
  "max-lines-per-function": ["error", { max: 60, skipComments: true }],
  // What ruff does not count is counted here: &&, ??, ?. and values by default.
  complexity: ["error", { max: 12 }],
  "max-len": ["error", { code: 120, ignoreRegExpLiterals: true }],
  "max-depth": ["error", 3],
  "no-unused-vars": ["error", { argsIgnorePattern: "^_", ignoreRestSiblings: true }],
  "no-undef": "error",
  "no-var": "error",
  "prefer-const": ["error", { destructuring: "all" }],
  eqeqeq: "error",
};

const LANGUAGE = [
  "AbortSignal", "IDBKeyRange", "Intl", "Request", "Response", "TextDecoder", "TextEncoder", "URL", "URLSearchParams",
  "atob", "btoa", "crypto", "fetch", "performance", "setTimeout", "console",
];
const PAGE = [
  "Blob", "ResizeObserver", "XMLSerializer", "addEventListener", "caches", "document", "history", "innerHeight", "location", "navigator",
  "parent", "removeEventListener", "requestAnimationFrame", "scrollTo", "self",
];
const WORKER = ["FILES", "USED", "VERSION", "addEventListener", "caches", "skipWaiting"];
const NODE = ["DOMException", "queueMicrotask", "setImmediate", "structuredClone", "Buffer", "document", "globalThis", "process"];
const named = (...names) => Object.fromEntries(names.flat().map((name) => [name, "readonly"]));

export default [
  { ignores: ["**/.venv/**"] },
  { rules: BOUNDS },
  { files: ["client/**/*.js"], languageOptions: { globals: named(LANGUAGE, PAGE, "Event") } },
  {
    files: ["aggregator/**/*.js"],
    languageOptions: { globals: named(LANGUAGE, PAGE, "DOMParser", "Event", "FormData", "clearTimeout", "sessionStorage") },
  },
  {
    files: ["client/**/question/*.js"],
    languageOptions: {
      globals: named(
        LANGUAGE, PAGE, "CustomEvent", "FormData", "HTMLElement", "IntersectionObserver", "clearTimeout", "customElements",
        "clearInterval", "getComputedStyle", "open", "screen", "setInterval", "window",
      ),
    },
  },
  { files: ["client/**/sw.js"], languageOptions: { globals: named(LANGUAGE, WORKER) } },
  { files: ["aggregator/**/*.js"], languageOptions: { globals: named(LANGUAGE, PAGE, "PublicKeyCredential", "globalThis") } },
  { files: ["**/*.mjs"], languageOptions: { globals: named(LANGUAGE, NODE) } },
  // A table of tests is one function for each, however many lines it has.
  { files: ["tests/**/*.mjs"], rules: { "max-lines-per-function": "off", "max-len": ["error", { code: 155 }] } },
];
