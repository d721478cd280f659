import { Draws } from "../device/draws.js";
import { button, element, row, sentences } from "./dom.js";
import { whenInWords } from "./phrases.js";
import { checkForm } from "./steps/before.js";
import { BinaryRR } from "../survey/mechanisms/common.js";
import { showEpsilon } from "../survey/rational.js";

/**
 * How chance protects answers, what it costs, an example to try, and, where it is no step of its own, one question
 * that shows whether this is clear. `spent` is what all reports to this aggregator cost.
 */
export async function howItWorks(words, survey, spent) {
  const cost = words.line("p", "receipt_epsilon", { epsilon: showEpsilon(survey.epsilon) });
  const earlier = spent > 0 ? [words.line("p", "spent", { spent: showEpsilon(spent) })] : [];
  const example = survey.ownCoin || survey.isByFacts ? [] : [await practice(survey, words)];
  const check = survey.check || survey.isByFacts ? [] : [checkForm(survey, words)];
  const why = element("p", {}, ...sentences(["evens_out", ...(survey.isByFacts ? [] : ["no_lie"]), "not_kept"], words));
  return element("div", {}, why, cost, ...earlier, ...example, ...check);
}

/** What no odds can hide. */
export function limitsList(words, { document, kiosk, quickExit }) {
  // A device that is handed round keeps nothing of a person.
  const keys = ["limits_presence", "limits_time", ...(kiosk ? [] : ["limits_device"]), "limits_page"];
  if (document.questions.some((item) => item.in_files)) keys.push("limits_files");
  // A page in a file gives way to a page of no server, and cannot delete itself.
  const where = globalThis.location?.protocol === "file:" ? "exit_file" : "exit_seen";
  if (quickExit) keys.push("exit_forgets", "exit_stays", where, "exit_keys");
  return element("ul", {}, ...keys.map((key) => words.line("li", key)));
}

/** What the survey says of itself: what it is for, who has looked at it, what becomes of what is sent. */
export function aboutStudy(words, survey, revision) {
  const { deleteOn, description, notice, researcher } = survey;
  const texts = [description, researcher?.ethics].filter(Boolean).map((text) => words.text("p", text));
  if (notice) texts.push(words.line("h2", "notice_title"), words.text("p", notice));
  if (deleteOn) texts.push(words.line("p", "about_deleted", () => ({ date: whenInWords(deleteOn, words) })));
  if (revision) texts.push(words.line("p", "about_revision", revision));
  return element("div", {}, ...texts);
}

const MORE = 20;

/**
 * An example to try: a harmless question, answered through the real randomizer as often as one likes.
 *
 * It has no way to the network or to the ledger; its tally goes with the step.
 */
async function practice(survey, words) {
  const { drawFromRow } = await import("../device/randomize.js");
  const coin = survey.questions.find(({ mechanism }) => mechanism?.constructor === BinaryRR);
  const mechanism = coin?.mechanism ?? new BinaryRR({ name: "binary_rr", a: "3/4", b: "1/4" });
  const draws = new Draws();
  const tally = [0, 1].map(() => ({ rolls: 0, yes: 0 }));
  const result = element("div", { role: "status" });
  const roll = (truth, times) => {
    let value;
    for (let time = 0; time < times; time += 1) {
      value = drawFromRow(mechanism, truth, draws);
      tally[truth].rolls += 1;
      tally[truth].yes += value;
    }
    more.hidden = false;
    more.onclick = () => roll(truth, MORE);
    const sums = [1, 0].filter((answer) => tally[answer].rolls).map((answer) =>
      words.line("p", ["practice_no", "practice_yes"][answer], tally[answer]),
    );
    const answer = { value: () => words.translate(["no", "yes"][value]) };
    const sent = words.line("p", "practice_sent", answer, { className: "lead" });
    result.replaceChildren(...(times === 1 ? [sent] : []), ...sums);
  };
  const [yes, no] = [1, 0].map((truth) => button(words.node(["no", "yes"][truth]), "", () => roll(truth, 1)));
  const more = button(words.node("practice_more", { number: MORE }), "", null);
  more.hidden = true;
  const legend = element("legend", {}, words.node("practice_question"));
  const note = words.line("p", "practice_note", {}, { className: "hint" });
  const odds = element("p", { className: "odds" }, words.odds({ mechanism }));
  return element("fieldset", { id: "practice" }, legend, note, row(yes, no, more), result, odds);
}
