import { askedBy } from "../researcher.js";
import { bar } from "../bar.js";
import { beliefPicture } from "./belief_picture.js";
import { disclosure } from "../disclosure.js";
import { button, element } from "../dom.js";
import { provided } from "../../registry.js";
import { mostRevealing, oddsPicture } from "./odds_picture.js";
import { showEpsilon } from "../../survey/rational.js";
import { statusLine } from "./status_line.js";

const UNKNOWN = { kind: "open", date: null };
const SHUT = ["closed", "retired", "token"];
const SECONDS = { around: 60, question: 15 };
const SHORT = 40;
// Chinese writes no spaces: about two of its characters are a word.
const WORD = /\p{Script=Han}{1,2}|[^\s\p{Script=Han}]+/gu;

/** Whether what people agree to is too long for the first step; the longest of its languages decides for all. */
export function hasLongConsent({ consent }) {
  return consent !== null && Object.values(consent).some((text) => text.match(WORD).length > SHORT);
}

/**
 * The first step: who asks, what protects the answers, what is seen, on one screen; all of it from the survey.
 *
 * `known` is { hasDigest, wave, spent, allowance, status, revision, source }: whether the link pins the survey, its
 * wave, what earlier reports to this aggregator cost, what the person allows, whether it can be answered now (see
 * `statusLine`), which of its versions this is, { number, of }, and what leads to who serves the page, where it can be
 * saved. `on` is { begin, practise, limits }: what its buttons do, and the form for limits.
 */
export function explanationStep(survey, words, known, on) {
  const { status = UNKNOWN } = known;
  const start = words.text("h1", survey.title, { tabIndex: -1 });
  const head = [askedBy(survey, words), start, facts(survey, words)].filter(Boolean);
  const most = mostRevealing(survey);
  const parts = [protectionPart(survey, words, most), ...seen(survey, words, known.wave), ...consent(survey, words)];
  const row = [statusLine(survey, words, status), ...actions(survey, words, most, status, on)];
  const pin = known.hasDigest ? [] : [words.line("p", "no_digest", {}, { className: "note" })];
  const below = details(survey, words, known, on, most);
  return { node: element("div", { id: "explanation" }, ...head, ...pin, ...parts, ...row, ...below), start };
}

// How long it is. Which of the questions are shown hangs on the answers, so that it may be fewer.
function facts(survey, words) {
  const asking = survey.items.filter(({ questions }) => questions.length > 0).length;
  const count = survey.ask === null ? asking : survey.ask + survey.questions.length - survey.private.length;
  const minutes = Math.max(1, Math.round((SECONDS.around + SECONDS.question * count) / 60));
  const sentence = survey.conditional.length ? "facts_at_most" : "facts";
  return words.line("p", sentence, { count, minutes }, { className: "hint" });
}

function protectionPart(survey, words, most) {
  if (!most) return words.line("p", "all_public", {}, { className: "note" });
  const section = element("section", {}, words.line("h2", "explain_title"), words.line("p", procedureOf(survey)));
  // Named as the weakest only where another question is protected better.
  const isBetter = ({ epsilon }) => epsilon > 0 && epsilon < most.epsilon;
  if (survey.questions.some(isBetter)) section.append(words.line("p", "weakest"));
  section.append(oddsPicture(most, words), beliefPicture(survey, most, words));
  if (survey.ask !== null || survey.waves > 1) section.append(...provided("wavesNotes")(survey, words));
  return section;
}

// People who toss their own coin read only about coins.
function procedureOf({ ownCoin, questions }) {
  if (!ownCoin) return "explain_how";
  const byCoin = ({ mechanism }) => mechanism === null || provided("procedure")(mechanism).flips > 0;
  return questions.every(byCoin) ? "explain_own_coin" : "explain_own_die";
}

function seen(survey, words, wave) {
  const sentence = survey.access === "token" ? "seen_link" : "seen_address";
  const usual = survey.isBlind ? [] : [words.line("p", sentence)];
  return survey.isBlind || survey.sendWithinHours ? [...usual, ...provided("blindNotes")(survey, words, wave)] : usual;
}

function consent(survey, words) {
  if (hasLongConsent(survey)) return [words.line("p", "agree_next")];
  const text = survey.consent === null ? [] : [words.text("p", survey.consent)];
  return [...text, words.line("p", "agree")];
}

function actions(survey, words, most, { kind }, on) {
  if (SHUT.includes(kind)) return [];
  const begin = button(words.node("begin"), "primary", on.begin);
  begin.disabled = kind === "checking";
  const buttons = kind === "early" ? [] : [begin];
  if (most && !survey.ownCoin) buttons.push(button(words.node("practise"), "", on.practise));
  return buttons.length ? [bar(buttons)] : [];
}

function details(survey, words, { spent, allowance, revision = null, source = null }, on, most) {
  const { deleteOn, description, notice, researcher } = survey;
  const hasMore = [deleteOn, description, notice, researcher?.ethics, revision].some(Boolean);
  const about = hasMore ? [disclosure(words, "about_title", "aboutStudy", survey, revision)] : [];
  const save = source ? [disclosure(words, "save_page_title", "savePagePart", survey, source)] : [];
  if (!most) return [...about, ...save];
  const limits = on.limits();
  const cost = { epsilon: showEpsilon(survey.epsilon), limit: allowance.total };
  const earlier = spent > 0 ? [words.line("p", "spent", { spent: showEpsilon(spent) })] : [];
  limits.firstChild.after(words.line("p", "explain_epsilon", cost), ...earlier);
  return [...about, limits, disclosure(words, "limits_title", "limitsList", survey.ownCoin), ...save];
}
