import type { Question, QuestionRecord } from "./core.js";

export type { Question, QuestionRecord };
export { toColumns } from "./core.js";

/** `<sottovoce-question src participant study name required question>`. */
export class SottovoceQuestion extends HTMLElement {
  question: Question | null;
  readonly record: QuestionRecord | null;
  readonly columns: Record<string, string>;
  readonly name: string;
  readonly form: HTMLFormElement | null;
  readonly validity: ValidityState;
  checkValidity(): boolean;
}

declare global {
  interface HTMLElementTagNameMap {
    "sottovoce-question": SottovoceQuestion;
  }
  interface HTMLElementEventMap {
    "sottovoce-record": CustomEvent<QuestionRecord>;
    "sottovoce-unavailable": CustomEvent<string>;
  }
}
