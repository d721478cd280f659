import { askedBy, contactLink, whenInWords } from "../phrases.js";
import { button, element, nameCells, row, titled } from "../dom.js";
import { isNearlySure, mostRevealing } from "../protection.js";
import { RARE_READERS } from "../../survey/known.js";
import { showEpsilon } from "../../survey/rational.js";
import { parseReport } from "../../survey/report.js";
import { reportedInWords } from "../value_words.js";

/**
 * The last step: what was sent, and what can be done about it.
 *
 * `spent` is what all reports to this aggregator cost; `onEnd` is called with "withdraw" or "forget".
 */
export function receiptStep(whole, words, receipt, isEarlier, spent, onEnd) {
  const survey = asSent(whole, receipt);
  // Only then the title says that answers are randomized; the arm is no answer.
  const isAllChance = !whole.hasFacts && survey.private.length === (survey.asked ?? survey.questions).length;
  const title = words.node(isAllChance ? "receipt_title" : "receipt_title_open");
  const earlier = isEarlier ? [words.line("p", "receipt_earlier", {}, { className: "lead" })] : [];
  const parts = receiptParts(whole, words, receipt);
  const total = words.line("p", "spent", { spent: showEpsilon(spent) });
  parts[0].querySelector("details").append(total);
  const actions = actionRow(survey, words, receipt, isEarlier, onEnd);
  return titled({ id: "receipt" }, title, ...earlier, ...parts, ...actions);
}

// What a survey with arms says of one report; other surveys are as they are.
const asSent = (whole, { body }) => whole.ofReport?.(parseReport(body)) ?? whole;

/** All that a receipt says, here or in a copy that is kept: a function of the sent bytes and of the survey alone. */
export function receiptParts(whole, words, receipt) {
  const survey = asSent(whole, receipt);
  const ending = RARE_READERS.ending?.(survey, parseReport(receipt.body).values) ?? survey.after;
  const after = ending ? [afterPart(ending, words)] : [];
  return [sentReport(survey, words, receipt), ...after, untilWhen(survey, words, receipt)];
}

// What the survey tells with the receipt; the link is spelled out, so that it says where it leads. A panel's own link
// goes with its label, which is at the end of the respondent's link and reaches no server.
function afterPart({ link: usual, links = {}, text }, words) {
  const nodes = text ? [words.text("p", text)] : [];
  const [, label] = /[#&]from=([\w-]+)/.exec(location.hash) ?? [];
  const link = Object.hasOwn(links, label) ? links[label] : usual;
  const properties = { href: link, rel: "noopener noreferrer", target: "_blank", dir: "ltr" };
  if (link) nodes.push(element("p", {}, element("a", properties, link)));
  return element("div", { id: "after", className: "note" }, ...nodes);
}

// Until when the report can be taken back.
function untilWhen({ document: file }, words, { body }) {
  const { closes = null } = file.waves?.[parseReport(body).wave] ?? file;
  if (closes === null) return words.line("p", "status_withdraw");
  return words.line("p", "receipt_until", () => ({ date: whenInWords(closes, words) }));
}

function actionRow(survey, words, receipt, isEarlier, onEnd) {
  const missing = element("p", { role: "status", className: "told" });
  const saving = (key, give) => {
    const save = () => {
      missing.replaceChildren();
      return import("../saving.js").then(give, () => missing.append(words.node("error_load")));
    };
    return button(words.node(key), "", save);
  };
  const parts = () => [askedBy(survey, words), ...receiptParts(survey, words, receipt)].filter(Boolean);
  const copy = saving("save_copy", ({ saveCopy }) => saveCopy(survey, words, parts()));
  // Of an earlier visit the day is not known.
  const consent = isEarlier ? null : saving("save_consent", ({ saveConsent }) => saveConsent(survey, words));
  const contact = contactLink(survey.researcher, words, "ask_us");
  const others = row(...[copy, consent, contact].filter(Boolean));
  const withdraw = row(button(words.node("withdraw"), "", () => onEnd("withdraw")));
  return [withdraw, others, missing, sharedPart(survey, words, () => onEnd("forget"))];
}

// What to do where others use the same device: forget what was sent, and how another person answers an open survey.
function sharedPart({ access }, words, onForget) {
  const other = access === "open" ? [words.line("p", "other_person")] : [];
  const forget = row(button(words.node("forget"), "", onForget));
  return element("details", {}, words.line("summary", "receipt_shared"), ...other, forget);
}

// What was sent, made from the sent bytes and the survey alone: which questions were shown hangs on true answers, so
// what is said of a question that may be hidden is the same for everybody.
function sentReport(survey, words, receipt) {
  const { values: reports } = parseReport(receipt.body);
  const parts = [...chanceNotes(survey, words, reports), ...asGiven(survey, words, reports)];
  return element("section", { id: "sent" }, ...parts, exactReport(survey, words, reports, receipt));
}

// How many of the sent answers the device, or a coin, changed.
function countDrawn({ private: places, questions }, reports) {
  return places.filter((index) => reports[index] !== null && !questions[index].mechanism.procedure).length;
}

// One sentence about all answers that chance had a say in.
function chanceNotes(survey, words, reports) {
  const given = survey.private.filter((index) => reports[index] !== null);
  const count = countDrawn(survey, reports);
  const facts = given.length > count ? [words.line("p", "receipt_innocuous")] : [];
  if (count === 0) return facts;
  const isHidden = (index) => survey.conditional.includes(survey.questions[index]);
  const more = given.some(isHidden) ? [words.line("p", "receipt_not_shown")] : [];
  // Nothing is promised where all answers together tell nearly everything.
  const proves = isNearlySure(survey) ? [] : [words.node("gap"), words.node("receipt_proves")];
  const chance = element("p", { className: "lead" }, words.node("receipt_count", { count }), ...proves);
  return [chance, ...more, ...facts];
}

function asGiven(survey, words, reports) {
  const isOpen = (index) => survey.questions[index].mechanism === null && reports[index] !== null;
  const open = [...survey.questions.keys()].filter(isOpen);
  if (open.length === 0) return [];
  const lines = open.map((index) => {
    const question = survey.questions[index];
    const value = element("strong", {}, reportedInWords(question, reports[index], words));
    return element("li", {}, labelled(question, words), " ", value);
  });
  return [words.line("p", "receipt_public"), element("ul", {}, ...lines)];
}

// A question's label, with a note for people who did not answer.
function labelled(question, words) {
  const label = words.text("span", question.label);
  if (question.mechanism !== null || question.absent === null || question.domain.absent) return label;
  return element("span", {}, label, " ", words.line("span", "public_absent", {}, { className: "hint" }));
}

function exactReport(survey, words, reports, receipt) {
  const rows = survey.questions.map((question, index) => [
    labelled(question, words),
    reports[index] === null ? words.node("not_asked") : reportedInWords(question, reports[index], words),
  ]);
  const columns = ["question", "receipt_sent"].map((key) => words.node(key));
  const sent = table([words.text("span", survey.title)], columns, rows);
  const most = mostRevealing(survey);
  const note = survey.ownCoin ? "receipt_own_coin" : "receipt_note";
  const notes = (countDrawn(survey, reports) ? [note, "no_lie"] : []).map((key) => words.line("p", key));
  const why = most ? [...notes, element("p", {}, words.odds(most))] : [];
  const cost = words.line("p", most ? "receipt_epsilon" : "all_public", { epsilon: showEpsilon(survey.epsilon) });
  return element("details", {}, words.line("summary", "receipt_exact"), ...why, sent, ...bytes(words, receipt), cost);
}

/**
 * A table with a header row; caption, columns and each row are lists of nodes, and the first
 * cell names its row.
 */
function table(caption, columns, rows) {
  const heads = columns.map((column) => element("th", { scope: "col", role: "columnheader" }, column));
  const head = element("tr", { role: "row" }, ...heads);
  const body = rows.map(([first, ...others]) => {
    const cells = others.map((cell) => element("td", { role: "cell" }, cell));
    // The roles are spelled out because a restyled table is no table to some screen readers.
    return element("tr", { role: "row" }, element("th", { scope: "row", role: "rowheader" }, first), ...cells);
  });
  const [top, rest] = [element("thead", { role: "rowgroup" }, head), element("tbody", { role: "rowgroup" }, ...body)];
  const node = element("table", { role: "table" }, element("caption", {}, ...caption), top, rest);
  nameCells(node);
  return node;
}

function bytes(words, receipt) {
  const list = element("dl", {});
  const entries = [
    ["receipt_bytes", receipt.body],
    ["receipt_sha256", receipt.sha256],
    ["receipt_digest", receipt.digest],
    ["receipt_id", receipt.report_id],
  ];
  for (const [key, value] of entries) {
    list.append(words.line("dt", key), element("dd", {}, element("code", { dir: "ltr", id: key }, value)));
  }
  return [list, words.line("p", "verify_note", {}, { className: "hint" })];
}
