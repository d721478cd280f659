import { defineQuestion } from "./element.js";

// As in jsPsych's own ParameterType.
const STRING = 1;
const OBJECT = 12;

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
  }

  /** Show the question until it is answered or declined, or there is a reason for which it cannot be. */
  trial(display, { src, question, participant, study, mode }) {
    const node = document.createElement("sottovoce-question");
    for (const [name, value] of Object.entries({ src, participant, study, mode })) node.setAttribute(name, value);
    node.question = question;
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
}
