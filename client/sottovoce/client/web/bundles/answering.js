import { AnswerPath } from "../device/answer_path.js";
import { StepsFlow } from "../form/steps_flow.js";
import { checkboxes, radioButtons } from "../form/choice_input.js";
import { languageChoice } from "../form/language_choice.js";
import { randomizeBinaryRR } from "../device/randomizers/binary_rr.js";
import { randomizeKaryRR } from "../device/randomizers/kary_rr.js";

/** What every visit needs, but not until the first step stands on the page. */
export const ANSWERING = {
  randomizers: { binary_rr: randomizeBinaryRR, kary_rr: randomizeKaryRR },
  inputs: { yes_no: radioButtons, option: radioButtons, options: checkboxes },
  provided: { AnswerPath, StepsFlow, languageChoice },
};
