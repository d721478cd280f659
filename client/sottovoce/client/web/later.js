import { Answering } from "./answering.js";
import { languageChoice } from "./choice.js";
import { Life } from "./life.js";

/** What every visit needs, but not until the first step stands on the page. */
export const LATER = { Answering, Life, languageChoice };
