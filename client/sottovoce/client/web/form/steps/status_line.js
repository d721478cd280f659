import { contactLink, whenInWords } from "../phrases.js";
import { element } from "../dom.js";

// What is said of a survey's state, by its kind: with the day or moment it is about, and where none is known.
const STATES = {
  open: ["status_open", null],
  early: ["status_early", "status_not_yet"],
  closed: ["status_closed", "status_ended"],
  retired: ["status_retired", "status_retired"],
  offline: ["status_offline", "status_offline"],
  checking: ["status_checking", "status_checking"],
  token: ["status_token", "status_token"],
};
const ASKING = ["retired", "token"];

/**
 * The one line about whether a survey can be answered now; `status` is { kind, date }, its date a day or a moment as in
 * the survey file, or null.
 */
export function statusLine(survey, words, { kind, date = null }) {
  const [dated, undated] = STATES[kind];
  const sentence = kind === "open" && survey.document.trial ? "status_trial" : date === null ? undated : dated;
  const node = element("p", { id: "state", className: "state", hidden: sentence === null });
  if (sentence === null) return node;
  node.append(words.node(sentence, () => ({ date: date === null ? "" : whenInWords(date, words) })));
  const contact = ASKING.includes(kind) ? contactLink(survey.researcher, words, "ask_us") : null;
  if (contact) node.append(" ", contact);
  return node;
}
