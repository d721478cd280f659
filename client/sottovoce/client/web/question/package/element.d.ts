import type { BlockQuestion, Question, QuestionRecord } from "./core.js";

export type { BlockQuestion, Question, QuestionRecord };
export { toColumns } from "./core.js";

/** What became of a question so far. */
export type QuestionState = "shown" | "opened" | "answered" | "declined" | "blocked" | "closed";

/** `<sottovoce-question src participant study name required question mode>`. */
export class SottovoceQuestion extends HTMLElement {
  question: Question | BlockQuestion | null;
  readonly record: QuestionRecord | null;
  readonly state: QuestionState | "";
  readonly columns: Record<string, string>;
  readonly name: string;
  readonly form: HTMLFormElement | null;
  readonly validity: ValidityState;
  checkValidity(): boolean;
}

/** The element in JSX; handlers with a hyphen in their name are React 19's. */
export interface SottovoceQuestionAttributes {
  src: string;
  participant: string;
  study?: string;
  name?: string;
  required?: boolean;
  /** `frame` needs `@sottovoce/question/frame`, too. */
  mode?: "window" | "frame";
  /** An object where the library sets properties, as React 19 and Preact do; else JSON. */
  question?: Question | BlockQuestion | string;
  lang?: string;
  id?: string;
  class?: string;
  className?: string;
  slot?: string;
  style?: unknown;
  key?: string | number | null;
  ref?: unknown;
  children?: unknown;
  "onsottovoce-record"?: (event: CustomEvent<QuestionRecord>) => void;
  "onsottovoce-state"?: (event: CustomEvent<QuestionState>) => void;
  "onsottovoce-unavailable"?: (event: CustomEvent<string>) => void;
}

/** For a library with a JSX of its own; the package's README has the lines for React 19. */
export interface SottovoceQuestionElements {
  "sottovoce-question": SottovoceQuestionAttributes;
}

declare global {
  namespace JSX {
    interface IntrinsicElements extends SottovoceQuestionElements {}
  }
  interface HTMLElementTagNameMap {
    "sottovoce-question": SottovoceQuestion;
  }
  interface HTMLElementEventMap {
    "sottovoce-record": CustomEvent<QuestionRecord>;
    "sottovoce-state": CustomEvent<QuestionState>;
    "sottovoce-unavailable": CustomEvent<string>;
  }
}
