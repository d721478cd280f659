import { button, element, row, titled } from "../dom.js";
import { beliefSentence, isNearlySure } from "../protection.js";

/** The step after Begin, where the consent is long. */
export function consentStep(survey, words, onAgree, onBack) {
  const text = element("section", {}, words.text("p", survey.consent));
  const actions = [
    button(words.node("consent_agree"), "primary", onAgree),
    button(words.node("back_to_start"), "", onBack),
  ];
  return titled({ id: "consent" }, words.node("consent_title"), text, row(...actions));
}

const CHANCES = 2;
const ANSWERS = ["check_seen", "check_chance", "check_later"];
const RIGHT = 1;

/** One question about the protection, as a step: two tries. It may be skipped, and how it went is kept nowhere. */
export function checkStep(survey, words, onDone) {
  const skip = button(words.node("to_questions"), "", onDone);
  const onOver = () => {
    skip.className = "primary";
    skip.focus();
  };
  return titled({ id: "check" }, words.node("check_title"), checkForm(survey, words, [skip], onOver));
}

/** The question of the check with its answers; beside its button stand others, and `onOver` follows the last try. */
export function checkForm(survey, words, more = [], onOver = () => {}) {
  const inputs = ANSWERS.map(() => element("input", { type: "radio", name: "check" }));
  const option = (key, index) => element("label", { className: "option" }, inputs[index], words.node(key));
  const legend = element("legend", {}, words.node("check_question"));
  const feedback = element("p", { role: "status", className: "told" });
  const submit = element("button", { type: "submit", className: "primary" }, words.node("check_submit"));
  const choices = element("fieldset", {}, legend, ...ANSWERS.map(option), feedback);
  const form = element("form", { method: "dialog", autocomplete: "off" }, choices, row(submit, ...more));
  let tries = 0;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const selected = inputs.findIndex((input) => input.checked);
    if (selected >= 0) tries += 1;
    const isOver = selected === RIGHT || tries === CHANCES;
    feedback.replaceChildren(...verdict(survey, words, selected, isOver));
    if (!isOver) return;
    for (const input of inputs) input.disabled = true;
    submit.remove();
    onOver();
  });
  return form;
}

// Where all answers together tell nearly everything, the verdict says that too.
function verdict(survey, words, selected, isOver) {
  if (selected < 0) return [words.node("missing")];
  if (!isOver) return [words.node("check_wrong")];
  const more = isNearlySure(survey) ? [words.node("gap"), words.node(...beliefSentence(survey, words))] : [];
  return [words.node("check_told"), ...more];
}
