import { Draws } from "../device/draws.js";
import { bringEverything } from "./block.js";
import { columnsOf } from "./columns.js";
import { readAskedAlone, recordOf } from "./core.js";
import { defineQuestion } from "./element.js";

// As in jsPsych's own ParameterType.
const STRING = 1;
const OBJECT = 12;
/** Milliseconds for which a simulated trial can be seen. */
const SEEN = 500;

/** A plugin for jsPsych 8: one private question as a trial, whose data hold the record and its columns. */
export class SottovoceQuestionPlugin {
  static info = {
    name: "sottovoce-question",
    version: "0.4.0",
    parameters: {
      src: { type: STRING, default: undefined },
      question: { type: OBJECT, default: undefined },
      participant: { type: STRING, default: undefined },
      study: { type: STRING, default: "" },
      mode: { type: STRING, default: "window" },
    },
    data: { record: { type: OBJECT }, sottovoce_unavailable: { type: STRING } },
  };

  constructor(jsPsych) {
    this.jsPsych = jsPsych;
    defineQuestion();
    bringEverything();
  }

  /** Show the question until it is answered or declined, or there is a reason for which it cannot be. */
  trial(display, { src, question, participant, study, mode }) {
    const node = elementOf({ src, question, participant, study, mode });
    const end = (data) => {
      display.replaceChildren();
      this.jsPsych.finishTrial(data);
    };
    node.addEventListener("sottovoce-record", ({ detail }) => end({ ...node.columns, record: detail }));
    node.addEventListener("sottovoce-state", ({ detail }) => detail === "declined" && end(node.columns));
    const unavailable = ({ detail }) => end({ ...node.columns, sottovoce_unavailable: detail });
    node.addEventListener("sottovoce-unavailable", unavailable);
    display.replaceChildren(node);
  }

  /**
   * Invent an answer, each one as likely, and draw its record as the browser of a person would: nothing is asked or
   * kept, and `once` is `no`. In the mode `visual` the button is seen, and opens nothing.
   *
   * @throws {SpecError} the question cannot be asked alone
   */
  async simulate(trial, mode, options, onLoad) {
    const { question } = trial;
    const asked = readAskedAlone(question);
    const draws = new Draws();
    const report = asked.draw(asked.questions.map((one) => invented(one, draws)), draws);
    const record = await recordOf(question, report, "no");
    if (mode === "visual") await this.#show(trial, onLoad);
    else onLoad();
    const columns = columnsOf({ name: asked.name, question, record, state: "answered" });
    this.jsPsych.finishTrial(this.jsPsych.pluginAPI.mergeSimulationData({ ...columns, record }, options));
  }

  async #show(trial, onLoad) {
    const display = this.jsPsych.getDisplayElement();
    display.replaceChildren(Object.assign(elementOf({ ...trial, mode: "window" }), { inert: true }));
    onLoad();
    await new Promise((go) => this.jsPsych.pluginAPI.setTimeout(go, SEEN));
    display.replaceChildren();
  }
}

function elementOf({ src, question, participant, study, mode }) {
  const node = document.createElement("sottovoce-question");
  for (const [name, value] of Object.entries({ src, participant, study, mode })) node.setAttribute(name, value);
  return Object.assign(node, { question });
}

// A true value, by the kind of its type.
function invented({ domain: { options, size }, kind }, draws) {
  if (kind.truth === "numbers") return options.map(() => draws.below(size));
  return kind.truth === "options" ? 2 ** draws.below(size) : draws.below(size);
}
