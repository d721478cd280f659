import { controlFor } from "../form/choice_input.js";
import { element } from "../form/dom.js";
import { oddsPicture } from "../form/steps/odds_picture.js";
import { Words } from "../form/words.js";
import { beliefAfter } from "../survey/allowance.js";
import { SurveyError } from "../survey/errors.js";
import { showEpsilon } from "../survey/rational.js";

/** What every way of asking has: words, the controls of its questions, and a sentence where something goes wrong. */
export class Asking {
  main = document.getElementById("main");
  /** What few read is in it: sentences on what the way shows to other pages. */
  claims = [];
  words;
  /** Of each question: `{ control, fault, fields, question }`. */
  parts = [];

  constructor(sentences, wished = []) {
    this.words = new Words(async (tag) => sentences[tag], [...wished, ...navigator.languages]);
    // Nothing chosen outlives the visit, not even in the browser's back-forward cache.
    addEventListener("pagehide", () => this.clear());
  }

  /** Do this, or say why it cannot be done. */
  async attempt(act) {
    try {
      await act();
    } catch (error) {
      if (!(error instanceof SurveyError)) console.error(error.name);
      this.clear();
      this.refuse(error.sentence ?? "error_unexpected", error.values);
    }
  }

  /** A form with these questions and, after them, `content`; without controls where they were answered before. */
  form(questions, notes, content, firstId, isAnswered = false) {
    const { words } = this;
    const odds = questions.map((question) => element("p", { className: "hint" }, words.odds(question)));
    const isOne = odds.every((node) => node.textContent === odds[0].textContent);
    this.parts = questions.map((question, place) => {
      const id = place === 0 ? firstId : `answer${place}`;
      const control = isAnswered ? null : controlFor(question, id, words);
      const properties = { className: "fault", hidden: true, id: `${id}-fault` };
      const fault = words.line("p", ...(control?.fault ?? ["missing", {}]), properties);
      const fields = fieldsOf(question, control, id, place === 0 ? notes : [], words);
      fields.append(fault, ...(isOne ? [] : [odds[place]]));
      return { control, fault, fields, question };
    });
    const fields = [...this.parts.map((part) => part.fields), ...(isOne ? odds.slice(0, 1) : [])];
    return element("form", { autocomplete: "off", noValidate: true }, ...fields, ...content);
  }

  /** The true values; null while an answer is missing or does not fit, which is marked then. */
  truths() {
    const truths = this.parts.map(({ control, question }) => truthOf(question, control.read()));
    this.parts.forEach(({ fault }, place) => (fault.hidden = truths[place] !== null));
    const open = this.parts[truths.indexOf(null)];
    if (open) this.reach(open);
    return open ? null : truths;
  }

  /** Go to a part whose answer is missing. */
  reach({ control }) {
    control.faulty().focus();
  }

  /** What few read: the odds as a picture, what an observer can believe, what cannot be hidden, how to check it. */
  details({ epsilon, questions }, digest) {
    const { words } = this;
    const line = (key, values) => words.line("p", key, values);
    return element(
      "details", {},
      words.line("summary", "protected"),
      ...questions.map((question) => oddsPicture(question, words)),
      line(questions.length > 1 ? "belief_one_together" : "belief_one", { one: beliefAfter(epsilon) }),
      line("question_epsilon", { epsilon: showEpsilon(epsilon) }),
      words.line("h2", "limits_title"),
      ...this.claims.map((key) => line(key)),
      line("question_cleared"),
      line("question_address", { address: `${location.origin}${location.pathname}` }),
      line("question_digest", { digest }),
    );
  }

  /** Forget what was chosen. */
  clear() {
    for (const { control } of this.parts) control?.clear();
  }

  /** Say why there is no question. */
  refuse(...sentence) {
    this.say(...sentence);
  }

  /** Show this sentence and nothing else. */
  say(...sentence) {
    const problem = this.words.line("p", ...sentence);
    this.main.replaceChildren(element("div", { className: "problem", role: "alert" }, problem));
  }
}

// A question with its options; what is wrong with the answer comes after them.
function fieldsOf(question, control, id, notes, words) {
  const hint = question.hint ? [words.text("p", question.hint, { className: "hint" })] : [];
  const note = control?.note ? [words.line("p", ...control.note, { id: `${id}-note`, className: "hint" })] : [];
  const legend = element("legend", { id: `${id}-label` }, words.text("span", question.label));
  return element("fieldset", {}, legend, ...hint, ...notes, ...note, ...(control?.nodes ?? []));
}

// The true value of an answer; null for none that fits.
function truthOf(question, answer) {
  try {
    return answer === undefined ? null : question.encode(answer);
  } catch {
    return null;
  }
}
