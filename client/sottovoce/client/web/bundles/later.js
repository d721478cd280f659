import { Answering } from "../form/steps_flow.js";
import { languageChoice } from "../form/language_choice.js";
import { Life } from "../device/answer_path.js";

/** What every visit needs, but not until the first step stands on the page. */
export const LATER = { Answering, Life, languageChoice };
