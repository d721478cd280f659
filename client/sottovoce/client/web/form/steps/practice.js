import { button, element } from "../dom.js";
import { Draws } from "../../device/draws.js";
import { BinaryRR } from "../../survey/mechanisms/common.js";

const COIN = { name: "binary_rr", a: "3/4", b: "1/4" };
const MORE = 20;

/**
 * An example to try: a harmless question, answered through the real randomizer as often as one likes.
 *
 * It has no way to the network or to the ledger; its tally goes with the step.
 */
export async function practice(survey, words) {
  const { randomizeBinaryRR } = await import("../../device/randomize.js");
  const coin = survey.questions.find((question) => question.mechanism?.name === COIN.name);
  const mechanism = coin?.mechanism ?? new BinaryRR(COIN);
  const draws = new Draws();
  const tally = [0, 1].map(() => ({ rolls: 0, yes: 0 }));
  const result = element("div", { role: "status" });
  const roll = (truth, times) => {
    let value;
    for (let time = 0; time < times; time += 1) {
      value = randomizeBinaryRR(mechanism, truth, draws);
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
  const row = element("div", { className: "actions" }, yes, no, more);
  return element("fieldset", { id: "practice" }, legend, note, row, result, odds);
}
