import type { BlockQuestion, Question } from "./core.js";

export interface SottovoceTrial {
  src: string;
  question: Question | BlockQuestion;
  participant: string;
  study?: string;
  /** `frame` needs `@sottovoce/question/frame`, too. */
  mode?: "window" | "frame";
}

/** A plugin for jsPsych 8. */
export class SottovoceQuestionPlugin {
  static info: { name: "sottovoce-question"; version: string; parameters: Record<string, object>; data: Record<string, object> };
  constructor(jsPsych: { finishTrial(data: object): void });
  trial(display: HTMLElement, trial: SottovoceTrial): void;
  /** Invents an answer and draws its record; nothing is asked or kept. `visual` shows the button meanwhile. */
  simulate(
    trial: SottovoceTrial,
    mode: "data-only" | "visual",
    options: { data?: object },
    onLoad: () => void,
  ): Promise<void>;
}
