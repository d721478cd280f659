import { button, element, row, sentences } from "../dom.js";
import { askedBy, contactLink, whenInWords } from "../phrases.js";
import { oddsPicture } from "./odds_picture.js";
import { beliefSentence, isNearlySure, mostRevealing, protectionSentences, protectionTitle } from "../protection.js";
import { shareOf100 } from "../odds_words.js";
import { RARE_READERS } from "../../survey/known.js";
import { isShut } from "../standing.js";

const UNKNOWN = { kind: "open", date: null };
const SECONDS = { around: 60, question: 15 };
const SHORT = 40;
// Chinese writes no spaces: about two of its characters are a word.
const WORD = /\p{Script=Han}{1,2}|[^\s\p{Script=Han}]+/gu;

/**
 * What stands between the first step and the questions: a long consent, and the check, where the survey asks for it and
 * answers are protected at all.
 */
export function stepsBefore(survey) {
  const asksCheck = survey.check && mostRevealing(survey) !== undefined && !survey.isByFacts;
  return { asksCheck, asksConsent: hasLongConsent(survey) };
}

// Whether what people agree to is too long for the first step; the longest of its languages decides for all.
function hasLongConsent({ consent }) {
  return Object.values(consent ?? {}).some((text) => text.match(WORD).length > SHORT);
}

/**
 * The first step: who asks, what protects the answers, what is seen, what is agreed to, and then the button; all of it
 * from the survey. The button does not stay in sight while one scrolls, so that consent is read before it is pressed.
 *
 * `known` is { hasDigest, notes, spent, status, revision, source }: whether the link pins the survey, what `blindNotes`
 * gives, what earlier reports to this aggregator cost, whether it can be answered now (see `statusLine`), which of its
 * versions this is, { number, of }, and what leads to who serves the page, where it can be saved. `begin` is what the
 * button does.
 */
export function explanationStep(survey, words, known, begin) {
  const { status = UNKNOWN } = known;
  const start = words.text("h1", survey.title, { tabIndex: -1 });
  const node = element("div", { id: "explanation" }, ...[askedBy(survey, words), start].filter(Boolean));
  const state = statusLine(survey, words, status);
  const pin = known.hasDigest ? [] : [words.line("p", "no_digest", {}, { className: "note" })];
  const parts = [protectionPart(survey, words), ...consent(survey, words), ...seen(survey, words, known.notes), state];
  const below = [actions(words, status, begin), ...details(survey, words, known)];
  // Who cannot answer reads that, and nothing of what answering would mean.
  node.append(...(isShut(status) ? [state] : [facts(survey, words), ...pin, ...parts, ...below]));
  return { node, start };
}

// How long it is. Which of the questions are shown hangs on the answers, so that it may be fewer.
function facts(survey, words) {
  const count = survey.mostAsked ?? survey.items.filter(({ questions }) => questions.length > 0).length;
  const minutes = Math.max(1, Math.round((SECONDS.around + SECONDS.question * count) / 60));
  const sentence = survey.conditional.length ? "facts_at_most" : "facts";
  return words.line("p", sentence, { count, minutes }, { className: "hint" });
}

function protectionPart(survey, words) {
  const most = mostRevealing(survey);
  if (!most) return words.line("p", "all_public", {}, { className: "note" });
  const values = (group) => () => ({ ...group, share: shareOf100(group.weight, group.whole, words) });
  const groups = (survey.groupSentences ?? []).map(([key, group]) => words.line("p", key, group && values(group)));
  // With groups, what follows is read of randomized answers alone.
  const which = groups.length ? ["group_protected"] : [];
  const how = element("p", {}, ...sentences([...which, ...protectionSentences(survey)], words));
  const belief = words.line("p", ...beliefSentence(survey, words), { className: "belief" });
  // Named as the weakest only where another question has another epsilon, or another channel of yes and no.
  const odds = ({ epsilon, mechanism: { rows = most.mechanism.rows } }) => `${epsilon} ${rows}`;
  const isOther = (index) => odds(survey.questions[index]) !== odds(most);
  const weakest = survey.private.some(isOther) ? [words.line("p", "weakest")] : [];
  const picture = [...weakest, oddsPicture(most, words)];
  // What all answers together may tell comes first where that is nearly everything.
  const parts = isNearlySure(survey) ? [belief, how, ...picture] : [how, ...picture, belief];
  const more = [...(survey.sentencesAtStart ?? []), ...(RARE_READERS.sentencesOfWaves?.(survey) ?? [])];
  const notes = more.map((sentence) => words.line("p", ...sentence));
  return element("section", {}, words.line("h2", ...protectionTitle(survey)), ...groups, ...parts, ...notes);
}

function seen(survey, words, notes) {
  const sentence = survey.access === "token" ? "seen_link" : "seen_address";
  const usual = [hasLongConsent(survey) ? "agree_next" : "agree", "status_withdraw"];
  return [...notes, element("p", {}, ...sentences(survey.isBlind ? usual : [sentence, ...usual], words))];
}

function consent(survey, words) {
  return hasLongConsent(survey) || !survey.consent ? [] : [words.text("p", survey.consent)];
}

function actions(words, { kind }, begin) {
  const press = button(words.node("begin"), "primary", begin);
  press.disabled = kind === "checking";
  return row(press);
}

function details(survey, words, { spent, revision = null, source = null }) {
  const { deleteOn, description, notice, researcher } = survey;
  const hasMore = [deleteOn, description, notice, researcher?.ethics, revision].some(Boolean);
  const fold = (part, more) => async () => (await import("../folds.js"))[part](words, survey, more);
  const offer = async () => (await import("../saving.js")).savePagePart(words, survey, source);
  const about = hasMore ? [disclosure(words, "about_title", fold("aboutStudy", revision))] : [];
  const save = source ? [disclosure(words, "save_page_title", offer)] : [];
  const how = mostRevealing(survey) ? [disclosure(words, "how_title", fold("howItWorks", spent))] : [];
  return [...how, disclosure(words, "limits_title", fold("limitsList")), ...about, ...save];
}

/**
 * Something few people open: under `summary`, a key of the catalogue, the node that `fill` gives; it is asked for when
 * a person opens it.
 */
function disclosure(words, summary, fill) {
  const content = element("div", {}, "");
  const node = element("details", {}, words.line("summary", summary), content);
  let isFilled = false;
  node.addEventListener("toggle", async () => {
    if (!node.open || isFilled) return;
    const filling = await fill().catch(() => null);
    isFilled ||= filling !== null;
    content.replaceChildren(filling ?? words.line("p", "error_load"));
  });
  return node;
}

// What is said of a survey's state with the day or moment it is about, and where none is known.
const STATES = {
  open: ["status_open", null],
  early: ["status_early", "status_not_yet"],
  closed: ["status_closed", "error_closed"],
};

/**
 * The one line about whether a survey can be answered now; `status` is { kind, date }, its date a day or a moment as in
 * the survey file, or null.
 */
export function statusLine(survey, words, { kind, date = null }) {
  const [dated, undated = dated] = STATES[kind] ?? [`status_${kind}`];
  const sentence = kind === "open" && survey.document.trial ? "status_trial" : date === null ? undated : dated;
  const node = element("p", { id: "state", className: "state", hidden: sentence === null });
  if (sentence) node.append(words.node(sentence, () => ({ date: date === null ? "" : whenInWords(date, words) })));
  const contact = ["retired", "token"].includes(kind) ? contactLink(survey.researcher, words, "ask_us") : null;
  if (contact) node.append(words.node("gap"), contact);
  return node;
}
