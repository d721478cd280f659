import { optionLabel } from "./odds_words.js";
import { element } from "./dom.js";

const GROUPED = /^(?:-?[1-9]\d{0,2})([.,])\d{3}$/;

/** One text field, or one for each coordinate. A browser's own number fields round, and change when a wheel turns. */
export function numberInput(question, id, words) {
  const { grid, options: names } = question.domain;
  const inputs = (names.length ? names : [""]).map((_, index) => textField(question, id, index));
  const [note, fault] = question.kind.sentences;
  const texts = () => inputs.map((input) => typedNumber(input.value, words.point));
  const values = { min: grid.text(0), max: grid.text(grid.steps) };
  const named = (index) => optionLabel(question, index, words);
  const label = (input, index) => element("label", { className: "entry" }, named(index), input);
  const rounded = element("p", { className: "hint", role: "status" });
  const showRounded = () => rounded.replaceChildren(...roundings(grid, texts(), words));
  for (const input of inputs) input.addEventListener("input", showRounded);
  return {
    inputs,
    nodes: [...(names.length ? inputs.map(label) : inputs), rounded],
    note: [note, values],
    fault: [fault, values],
    read: () => (names.length ? Object.fromEntries(texts().map((text, index) => [names[index], text])) : texts()[0]),
    faulty() {
      const wrong = inputs.filter((_, index) => grid.counted(texts()[index]) === null);
      for (const input of inputs) {
        const isWrong = wrong.includes(input);
        input.setAttribute("aria-invalid", isWrong);
        input.setAttribute("aria-describedby", isWrong ? `${id}-note ${id}-fault` : `${id}-note`);
      }
      return wrong[0] ?? inputs[0];
    },
    clear: () => {
      inputs.forEach((input) => (input.value = ""));
      showRounded();
    },
  };
}

// What a number between two steps is counted as.
function roundings(grid, texts, words) {
  const counted = texts.map((text) => [text, grid.counted(text)]);
  const between = counted.filter(([text, number]) => number !== null && number !== text);
  return between.flatMap(([, number]) => [words.node("counted_as", { number }), " "]);
}

function textField({ absent, domain, kind }, id, index) {
  const properties = { ...kind.field(domain.grid), id: `${id}-${index}`, spellcheck: false, required: absent === null };
  const aria = { "aria-describedby": `${id}-note` };
  if (domain.options.length === 0) aria["aria-labelledby"] = `${id}-label`;
  return element("input", { ...properties, ...aria });
}

/**
 * Convert a typed number, in the digits of any script, to the form with a point that `parseDecimal` reads.
 *
 * Comma and point both stand before the tenths, except where thousands may be meant: there only `point` does, else the
 * result is "". In English 1,000 is never 1.
 */
export function typedNumber(text, point) {
  const latin = text.replace(/[\u200e\u200f\u061c]/g, "").trim().replace(/[٠-٩۰-۹०-९０-９]/g, digit);
  const number = latin.replace(/^[−－]/, "-").replace(/^[+＋]/, "").replace(/[٫．]/, ".");
  const sign = GROUPED.exec(number)?.[1] ?? point;
  return sign === point ? plain(number.replace(",", ".")) : "";
}

// ".5", "5." and "007" as `parseDecimal` spells them.
function plain(number) {
  const match = /^(-?)0*(\d*)(?:\.(\d*))?$/.exec(number);
  if (match === null || !/\d/.test(number)) return number;
  const [, sign, whole, decimals] = match;
  return `${sign}${whole || "0"}${decimals ? `.${decimals}` : ""}`;
}

// Three of the scripts' zeros end in 0 in hexadecimal; the Devanagari one in 6.
function digit(character) {
  const code = character.codePointAt(0);
  return code >= 0x966 && code <= 0x96f ? code - 0x966 : code % 16;
}
