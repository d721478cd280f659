import { button, element, heading } from "../dom.js";

/** The step after Begin, where the consent is long. */
export function consentStep(survey, words, onAgree, onBack) {
  const start = heading(1, words.node("consent_title"));
  const text = element("section", {}, words.text("p", survey.consent));
  const actions = [
    button(words.node("consent_agree"), "primary", onAgree),
    button(words.node("back_to_start"), "", onBack),
  ];
  const row = element("div", { className: "actions" }, ...actions);
  return { node: element("div", { id: "consent" }, start, text, row), start };
}
