import { BLOCK_SENTENCES } from "./sentences/block.js";
import { readFields, readItems, readMatch, readNames } from "./checks.js";
import { RARE_SENTENCES } from "./known.js";
import { JointMember, JointRR } from "./mechanisms/joint_rr.js";
import { NAME, parseItem } from "./parse_item.js";
import { must } from "./rational.js";
import { Question } from "./spec.js";

const TYPES_IN_BLOCKS = ["boolean", "select_one", "rating", "matrix"];

/**
 * The items of a block: questions that are randomized together.
 *
 * @param earlier a Map from names to the questions before it, to which its own are added
 */
export function readBlock(value, language, neutral, earlier) {
  readFields(value, ["block", "items", "mechanism"], ["arm", "ask"]);
  readMatch(value.block, NAME);
  const items = readItems(value.items, 1, 12).map((item) => {
    const read = parseItem(withStandIn(item), earlier, language, neutral);
    for (const question of read.questions) earlier.set(question.name, question);
    return read;
  });
  const sizes = items.flatMap((item) => item.questions).map((question) => question.domain.size);
  const block = new JointRR(value.mechanism, sizes, value.ask);
  let position = 0;
  const drawnTogether = (question) => {
    const mechanism = new JointMember(block, position++, isYesNo(question));
    const made = new Question({ ...question, mechanism });
    earlier.set(made.name, made);
    return made;
  };
  return items.map((item) => ({ ...item, arms: value.arm, questions: item.questions.map(drawnTogether) }));
}

// An item is read with any mechanism that its questions can have; at once the block's own takes its place.
function withStandIn(item) {
  must(TYPES_IN_BLOCKS.includes(item?.type) && ["anchor", "arm"].every((key) => !(key in item)));
  const asked = item.type === "matrix" ? item.of : item;
  must(asked && TYPES_IN_BLOCKS.includes(asked.type) && !("mechanism" in asked) && !("public" in asked));
  const isOfTwo = asked.type === "boolean" && !("absent_category" in asked);
  const mechanism = isOfTwo ? { name: "binary_rr", a: "3/4", b: "1/4" } : { name: "kary_rr", odds: "3" };
  return item.type === "matrix" ? { ...item, of: { ...asked, mechanism } } : { ...item, mechanism };
}

function isYesNo({ domain, kind }) {
  return kind.truth === "yes_no" && !domain.absent;
}

/**
 * Refuse blocks of one name with anything else, and a question in one that a public answer hides, at once or not; what
 * the page says of blocks it can say from then on.
 */
export function checkBlocks({ document, items, questions }) {
  RARE_SENTENCES.add(BLOCK_SENTENCES);
  const named = document.questions.filter((entry) => "block" in entry).map((entry) => ({ name: entry.block }));
  const others = items.filter((item) => item.questions[0]?.name !== item.name);
  readNames([...named, ...questions, ...others]);
  const isPublic = new Map(questions.map(({ mechanism, name }) => [name, mechanism === null]));
  const known = new Set();
  for (const item of items) {
    const hangsOn = [...item.visibleIf, ...item.anyOf].map((condition) => condition.question);
    if (!hangsOn.some((name) => isPublic.get(name) || known.has(name))) continue;
    must(!item.questions[0]?.mechanism?.block);
    for (const { name } of item.questions) known.add(name);
  }
}
