import { StepsFlow } from "../form/steps_flow.js";
import { checkboxes, radioButtons } from "../form/choice_input.js";
import { languageChoice } from "../form/language_choice.js";

/** What every visit needs, but not until the first step stands on the page. */
export const ANSWERING = {
  inputs: { yes_no: radioButtons, option: radioButtons, options: checkboxes },
  provided: { StepsFlow, languageChoice },
};
