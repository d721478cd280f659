import { randomizeJointRR } from "../device/joint_rr.js";
import { RARE_VIEWS } from "../form/choice_input.js";
import { numberInput } from "../form/number_input.js";
import { DEFAULT_ALLOWANCE } from "../survey/allowance.js";
import { BLOCK_SENTENCES } from "../survey/sentences/block.js";
import { readBlock } from "../survey/blocks.js";
import { readNames } from "../survey/checks.js";
import { SpecError } from "../survey/errors.js";
import { RARE_SENTENCES } from "../survey/known.js";
import { must } from "../survey/rational.js";
import { ASKED_READERS, languageOf, NOT_ALONE } from "./core.js";
import { bringEveryMechanism } from "./every_mechanism.js";

const NOT_IN_BLOCK = [...NOT_ALONE, "order", "keep_last"];

/** Have a page ask every question, and those that are randomized together. */
export function bringEverything() {
  bringEveryMechanism();
  RARE_VIEWS.numberInput = numberInput;
  RARE_SENTENCES.add(BLOCK_SENTENCES);
  ASKED_READERS.block = readBlockAlone;
}

// A block without a survey around it: no conditions, arms, drawn orders or matrices.
function readBlockAlone(document) {
  must(!("arm" in document || "ask" in document) && Array.isArray(document.items));
  for (const item of document.items) must(item?.type !== "matrix" && NOT_IN_BLOCK.every((key) => !(key in item)));
  const language = languageOf(document.items[0] ?? {});
  const questions = readBlock(document, language, false, new Map()).flatMap((item) => item.questions);
  readNames([{ name: document.block }, ...questions]);
  const [{ mechanism }] = questions;
  const { block, epsilon } = mechanism;
  if (epsilon > DEFAULT_ALLOWANCE.question) throw new SpecError("/mechanism");
  const { odds, radius } = document.mechanism;
  const names = questions.map((question) => question.name).join(",");
  return {
    document, epsilon, language, questions,
    name: document.block,
    channel: `joint_rr odds=${odds} radius=${radius} k=${block.sizes.join(",")} with=${names}`,
    draw(truths, draws) {
      questions.forEach((question, place) => question.check(truths[place]));
      const codes = randomizeJointRR(mechanism, truths[0], draws, null, truths);
      return codes.reduce((index, code, place) => index * block.sizes[place] + code, 0);
    },
    codes: (report) => digits(report, block.sizes),
    value: (report) => digits(report, block.sizes).map((code, place) => questions[place].options[code]).join(","),
  };
}

// The category of each question in the number of a combination: the last question's runs fastest.
function digits(report, sizes) {
  let rest = report;
  const found = [...sizes].reverse().map((size) => {
    const code = rest % size;
    rest = Math.floor(rest / size);
    return code;
  });
  return found.reverse();
}
