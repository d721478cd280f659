const COLOURS = ["paper", "ink", "accent", "on-accent", "line"];
const COLOUR = /^[#][0-9a-f]{6}$/i;
const FONT = /^[\w ,'-]{1,100}$/;
const LEAST_CONTRAST = 4.5;
const FOLLOWS = { alarm: "ink", quiet: "ink", edge: "ink", card: "paper", wash: "paper" };

/** Take colours and font of the page around the frame; colours that are hard to read are not taken, none of them. */
export function applyStyle(given) {
  const style = given instanceof Object ? given : {};
  const root = document.documentElement.style;
  if (typeof style.font === "string" && FONT.test(style.font)) root.setProperty("--font", style.font);
  const isGiven = COLOURS.every((name) => typeof style[name] === "string" && COLOUR.test(style[name]));
  if (!isGiven || !isLegible(style)) return;
  for (const name of COLOURS) root.setProperty(`--${name}`, style[name]);
  for (const [name, as] of Object.entries(FOLLOWS)) root.setProperty(`--${name}`, style[as]);
}

function isLegible(style) {
  const pairs = [["ink", "paper"], ["accent", "paper"], ["on-accent", "accent"]];
  return pairs.every(([one, other]) => contrast(style[one], style[other]) >= LEAST_CONTRAST);
}

/** The contrast of two colours as WCAG defines it, from 1 to 21. */
export function contrast(one, other) {
  const [dark, light] = [one, other].map(luminance).sort((first, second) => first - second);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour) {
  const [red, green, blue] = [1, 3, 5].map((start) => linear(parseInt(colour.slice(start, start + 2), 16) / 255));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function linear(part) {
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
}
