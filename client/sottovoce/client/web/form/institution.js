import { element } from "./dom.js";

const IMPRINT = {
  "en": { "imprint": "Imprint" },
  "ar": { "imprint": "بيانات الناشر" },
  "de": { "imprint": "Impressum" },
  "es": { "imprint": "Aviso legal" },
  "fr": { "imprint": "Mentions légales" },
  "hi": { "imprint": "कानूनी सूचना" },
  "it": { "imprint": "Note legali" },
  "pt": { "imprint": "Informação legal" },
  "zh-Hans": { "imprint": "法律声明" }
};
const COLOUR = /^[#][0-9a-f]{6}$/;
const LOGO = /^(data:image\/svg\+xml;base64,[A-Za-z0-9+/=]+)$/;
const DARK = "(prefers-color-scheme: dark)";

/**
 * Show the institution that the aggregator names, above every step: its logo, name and imprint, and its colour. Few
 * aggregators name one, so its style is here.
 */
export function showInstitution({ accent, accent_dark: dark, imprint, logo, name }, words) {
  words.rare.add(IMPRINT);
  const parts = [];
  // An image runs no script, whatever its file holds.
  if (LOGO.test(logo)) parts.push(element("img", { src: logo, alt: "", height: 28 }));
  // Most logos are made for white paper.
  for (const { style } of parts) style.cssText = "background:#fff;border-radius:4px;padding:2px";
  if (name) parts.push(element("span", { dir: "auto" }, name));
  if (imprint?.startsWith("https://")) {
    parts.push(words.line("a", "imprint", {}, { href: imprint, rel: "noopener noreferrer", target: "_blank" }));
  }
  const node = element("div", { id: "institution" }, ...parts);
  node.style.cssText = "display:flex;flex-wrap:wrap;gap:0 .6rem;align-items:center;flex:1;font-size:.875rem";
  document.getElementById("institution")?.remove();
  // In the row of the language, so that nothing below moves.
  document.getElementById("header").prepend(node);
  if (!COLOUR.test(accent) || !COLOUR.test(dark)) return;
  const { style } = document.documentElement;
  const scheme = globalThis.matchMedia(DARK);
  const paint = () => style.setProperty("--accent", scheme.matches ? dark : accent);
  scheme.addEventListener("change", paint);
  paint();
}
