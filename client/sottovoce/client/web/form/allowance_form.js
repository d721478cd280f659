import { element } from "./dom.js";

/** Where a person sets how much epsilon she allows; `onAllow` gets both numbers, and they hold for this visit. */
export function limitsForm(words, allowance, onAllow) {
  const inputs = [allowance.question, allowance.total].map((value) =>
    element("input", { type: "number", inputMode: "decimal", min: 0, step: "any", required: true, value }),
  );
  const labels = ["limit_question", "limit_total"].map((key, index) =>
    element("label", { className: "entry" }, words.node(key), inputs[index]),
  );
  const submit = element("button", { type: "submit" }, words.node("limit_set"));
  const note = words.line("p", "limit_note");
  const form = element("form", { method: "dialog", autocomplete: "off" }, note, ...labels, submit);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const [question, total] = inputs.map((input) => input.valueAsNumber);
    onAllow({ question, total });
  });
  return form;
}

/** What no odds can hide. */
export function limitsList(words, ownCoin) {
  const device = ownCoin ? "limits_tossed" : "limits_device";
  return element("ul", {}, ...["limits_presence", device, "limits_page"].map((key) => words.line("li", key)));
}
