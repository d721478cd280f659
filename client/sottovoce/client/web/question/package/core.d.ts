/** A question as in the list of a survey file, in its canonical form (`sottovoce question lint FILE --json`). */
export interface Question {
  name: string;
  type: "boolean" | "select_one" | "rating" | "select_multiple" | "integer" | "decimal" | "date" | "vector";
  label: Record<string, string>;
  mechanism: { name: string; [parameter: string]: unknown };
  [key: string]: unknown;
}

/** A question of a block, which has no mechanism of its own. */
export interface BlockItem {
  name: string;
  type: "boolean" | "select_one" | "rating";
  label: Record<string, string>;
  mechanism?: never;
  [key: string]: unknown;
}

/** Questions that are randomized together. */
export interface BlockQuestion {
  block: string;
  items: BlockItem[];
  mechanism: { name: "joint_rr"; odds: string; radius: number };
}

/** One randomized answer with its channel, `sottovoce-record/1`; of a block `value` has one word for each question. */
export interface QuestionRecord {
  format: "sottovoce-record/1";
  question: string;
  digest: string;
  report: number;
  value: string;
  mechanism: { name: string; [parameter: string]: unknown };
  channel: string;
  epsilon: string;
  once: "device" | "visit" | "no" | boolean;
  client: string;
}

/** Reads whole numbers below a bound, or an index by weights; by default from the browser's own randomness. */
export class Draws {
  constructor(read?: (count: number) => Uint8Array);
  below(bound: number): number;
  pick(weights: number[]): number;
}

export interface Description {
  name: string;
  type: string;
  digest: string;
  epsilon: string;
  channel: string;
  odds: Record<string, number | [number, number]>;
}

/** Draw the record of an answer. Nothing is stored: a second call draws again, and costs epsilon again. */
export function randomize(question: Question, answer: unknown, options?: { draws?: Draws }): Promise<QuestionRecord>;
export function describe(question: Question): Promise<Description>;
/** The three columns of a record, `name` the first; of a block three for each question, under its own name. */
export function toColumns(record: QuestionRecord, name?: string): Record<string, string>;
