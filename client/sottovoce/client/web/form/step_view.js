import { button, titled } from "./dom.js";
import { LoadError, SurveyError, TransportError } from "../survey/errors.js";

/** Shows one step at a time in `main`, and errors; screen readers announce `status`. */
export class StepView {
  #words;
  #main;
  #status;
  #frame;
  // Steps that Back and Forward lead to, by their number in the browser's history.
  #stops = [];
  #place = 0;

  /** What sends a report again, while the page tells that it was not sent; else null. */
  resend = null;

  /** Whether the browser asks once before answers are lost. */
  asksOnce = true;

  /** `frame` shows what stands around every step; it is called with the first. */
  constructor(words, main, status, frame) {
    this.#words = words;
    this.#main = main;
    this.#status = status;
    this.#frame = frame;
    addEventListener("popstate", ({ state }) => this.#goTo(state?.step));
    addEventListener("beforeunload", (event) => {
      if (this.asksOnce && this.#stops.some((step) => step.isTouched?.())) event.preventDefault();
    });
  }

  /** On every step a way to leave at once, where the survey asks for it; `forget` does away with what was chosen. */
  async offerExit(survey, respondent, forget) {
    if (!survey?.quickExit) return;
    await (await import("./leaving.js")).offerExit(this.#words, this, respondent, forget, survey);
  }

  /**
   * Show the first step, or show it anew; Back from it leaves the page. In the history `behind` is how many entries of
   * this visit came before, reloads or not, and `since` when its first page was opened.
   */
  enterFirst(step, takesFocus) {
    [this.#stops[0], this.#place] = [step, 0];
    history.replaceState({ behind: 0, since: performance.timeOrigin, ...history.state, step: 0 }, "");
    this.show(step, takesFocus);
  }

  /** Show a step that follows the one shown: Back leads back, with what was chosen. History holds its number only. */
  enter(step) {
    this.#place += 1;
    this.#stops.length = this.#place;
    this.#stops.push(step);
    history.pushState({ ...history.state, step: this.#place, behind: history.state.behind + 1 }, "");
    this.show(step);
  }

  /** Do as the browser's Back does, so many times. */
  back(steps = 1) {
    history.go(-steps);
  }

  /** From now on Back and Forward lead to no step of this visit: what was chosen is gone. */
  close() {
    this.#stops = [];
  }

  #goTo(place) {
    if (this.#stops[place] === undefined) return;
    this.#place = place;
    this.show(this.#stops[place]);
  }

  /** Show a step, `{ node, start, heading }`; `start` takes the focus, and `heading`, if another, names the step. */
  show({ node, start, heading = start }, takesFocus = true) {
    this.resend = null;
    this.#main.replaceChildren(node);
    this.#status.replaceChildren();
    this.#frame?.();
    this.#frame = null;
    this.#words.entitle(heading);
    if (!takesFocus) return;
    scrollTo(0, 0);
    start.focus();
  }

  /** Tell something beside the step that is shown, until the next one is. */
  tell(sentence) {
    this.#status.replaceChildren(this.#words.node(sentence));
  }

  /** Show that something is under way. */
  busy(sentence) {
    this.show(titled({ className: "busy" }, this.#words.node(sentence)));
  }

  /**
   * Do something; every failure ends here, in words. `way` says what can be done about it: `back` where a failure has
   * taken nothing away, `resend` where a report was drawn, `later` where none was and asking again may help.
   */
  async guarded(work, way = {}) {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof SurveyError)) console.error(error.name);
      await this.#fail(error, work, way);
    }
  }

  async #fail(error, work, { back, resend, later }) {
    // Errors before the survey has loaded are shown in the device's language.
    if (!this.#words.language) await this.#words.speak(null);
    const { sentence = "error_unexpected", values } = error;
    const outcome = failureKind(error, back, resend, later);
    const [title, note] = outcome === "later" ? ["load", "refused"] : [outcome, outcome];
    const reason = this.#words.line("p", sentence, values, { className: "lead" });
    const properties = { className: "problem", role: "alert" };
    const step = titled(properties, this.#words.node(`${title}_title`), reason, this.#words.line("p", `${note}_note`));
    const reload = () => this.guarded(work, { back, resend, later });
    const act = { load: reload, kept: back, failed: resend, later }[outcome];
    if (act) step.node.append(button(this.#words.node(act === back ? "keep" : "again"), "primary", act));
    this.show(step);
    if (outcome === "failed") this.resend = resend;
  }
}

function failureKind(error, back, resend, later) {
  if (error instanceof LoadError) return "load";
  if (back) return "kept";
  if (later && error.isPassing) return "later";
  if (!resend || !(error instanceof TransportError)) return "refused";
  return "failed";
}
