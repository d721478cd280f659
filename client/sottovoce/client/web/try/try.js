import { Draws } from "../device/draws.js";
import { button, element } from "../form/dom.js";
import { languageChoice } from "../form/language_choice.js";
import { Words } from "../form/words.js";
import { readAskedAlone } from "../question/core.js";
import { estimateShare } from "./estimate.js";

const QUESTION = {
  type: "boolean",
  name: "cheated",
  label: { en: "Have you ever cheated in an exam?" },
  mechanism: { name: "binary_rr", a: "3/4", b: "1/4" },
};
const PEOPLE = 1000;
const TOGETHER = 20;
const PAUSE = 60;
const NO = 0;
const YES = 1;

/** Ask one question by the coin flip, and let a thousand people answer it; nothing is sent and nothing is kept. */
export async function startTry() {
  const sentences = JSON.parse(document.getElementById("sentences").textContent);
  const words = new Words(async (tag) => sentences[tag], navigator.languages);
  await words.speak(null);
  document.body.className = "window";
  document.title = words.translate("try_title");
  const main = document.getElementById("main");
  main.replaceChildren(
    ...languageChoice(words),
    words.line("h1", "try_title"),
    words.line("p", "try_lead", {}, { className: "hint" }),
    oneAnswer(words),
    manyAnswers(words),
  );
}

function report(truth) {
  return readAskedAlone(QUESTION).draw([truth], new Draws());
}

function word(words, code) {
  return () => words.translate(code === YES ? "yes" : "no");
}

function oneAnswer(words) {
  const told = element("div", { role: "status" });
  const answer = (truth) => {
    const sent = report(truth);
    told.replaceChildren(
      words.line("p", "try_answer", { answer: word(words, truth) }),
      words.line("p", "try_report", { report: word(words, sent) }, { className: "note" }),
      words.line("p", "try_chance"),
    );
  };
  const choices = [YES, NO].map((code) =>
    button(words.node(code === YES ? "yes" : "no"), "second", () => answer(code)),
  );
  const offered = element("p", { className: "choices" }, ...choices);
  return element("section", {}, words.line("h2", "try_question"), offered, told);
}

function manyAnswers(words) {
  const slider = element("input", { type: "range", id: "share", min: 0, max: 100, value: 30, autocomplete: "off" });
  const chosen = element("output", { htmlFor: "share" }, "30 %");
  slider.addEventListener("input", () => (chosen.value = `${slider.value} %`));
  const told = element("div", { role: "status" });
  const bar = new Bar();
  const start = button(words.node("try_start"), "primary", async () => {
    start.disabled = true;
    await letAnswer(Number(slider.value), words, told, bar);
    start.disabled = false;
  });
  return element(
    "section", {},
    words.line("h2", "try_many", { n: PEOPLE }),
    element("p", {}, words.line("label", "try_share", {}, { htmlFor: "share" }), " ", chosen),
    element("p", {}, slider),
    element("p", {}, start),
    bar.node, told,
    words.line("p", "try_why"),
  );
}

async function letAnswer(percent, words, told, bar) {
  const truths = shuffled(percent * (PEOPLE / 100));
  const isCalm = globalThis.matchMedia("(prefers-reduced-motion: reduce)").matches;
  let yes = 0;
  told.replaceChildren();
  for (const [place, truth] of truths.entries()) {
    yes += report(truth);
    const n = place + 1;
    if (n % TOGETHER > 0) continue;
    bar.show(estimateShare(yes, n), percent / 100);
    if (!isCalm) await new Promise((resume) => setTimeout(resume, PAUSE));
  }
  const found = estimateShare(yes, PEOPLE);
  const [share, low, high] = [found.share, found.low, found.high].map((part) => `${(100 * part).toFixed(1)}`);
  told.append(
    words.line("p", "try_sent", { n: PEOPLE, yes }),
    words.line("p", "try_estimate", { share, low, high, truth: percent }, { className: "note" }),
  );
}

/** So many people with a yes among all, in a random order. */
function shuffled(count) {
  const truths = Array.from({ length: PEOPLE }, (_, place) => (place < count ? YES : NO));
  const draws = new Draws();
  for (let last = PEOPLE - 1; last > 0; last -= 1) {
    const other = draws.below(last + 1);
    [truths[last], truths[other]] = [truths[other], truths[last]];
  }
  return truths;
}

/** The estimate with its interval, and the truth, on a line from 0 to 100 %. */
class Bar {
  #interval = element("span", { className: "interval" });
  #estimate = element("span", { className: "estimate" });
  #truth = element("span", { className: "truth" });
  node = element("div", { className: "bar", hidden: true }, this.#interval, this.#estimate, this.#truth);

  show({ share, low, high }, truth) {
    const at = (node, start, inlineSize) =>
      Object.assign(node.style, { insetInlineStart: `${100 * start}%`, inlineSize });
    this.node.hidden = false;
    at(this.#interval, low, `${100 * (high - low)}%`);
    at(this.#estimate, share, "");
    at(this.#truth, truth, "");
  }
}
