import type { Question, QuestionRecord } from "./core.js";

export type { Question, QuestionRecord };
export { toColumns } from "./core.js";

/** What became of a question so far. */
export type QuestionState = "shown" | "opened" | "answered" | "declined" | "blocked" | "closed";

/** `<sottovoce-question src participant study name required question mode>`. */
export class SottovoceQuestion extends HTMLElement {
  question: Question | null;
  readonly record: QuestionRecord | null;
  readonly state: QuestionState | "";
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
    "sottovoce-state": CustomEvent<QuestionState>;
    "sottovoce-unavailable": CustomEvent<string>;
  }
}
