import { DEFAULT_ALLOWANCE } from "../survey/allowance.js";
import { Draws } from "./draws.js";
import { BudgetExhausted, TransportError } from "../survey/errors.js";
import { signersKey } from "./entries.js";
import { loadSurvey } from "../survey/parse_survey.js";
import { sha256 } from "../survey/canonical.js";
import { showEpsilon } from "../survey/rational.js";

/**
 * One person and one survey: what is asked of her, what was drawn and spent before. It knows no way for an answer:
 * that is `AnswerPath`, which comes after the first step.
 *
 * `survey`, `transport`, `ledger` and `draws` are what it was given; `key` is under which the ledger knows the report.
 */
export class Respondent {
  /**
   * @param options among them `key`, where something was drawn already: then no survey is needed (null), and no limit
   *   hides what was sent; and `kiosk`, how a device that is handed round does some steps
   * @throws {BudgetExhausted} the survey asks for more than is allowed
   * @throws {TransportError} the survey asks for a token and there is none, or has no such wave
   */
  constructor(survey, transport, ledger, options = {}) {
    const { draws = new Draws(), allowance = DEFAULT_ALLOWANCE, kiosk, wave = 0, token = "", key = null } = options;
    const own = key ?? keyOf(survey, transport.origin, wave, token);
    Object.assign(this, { survey, transport, ledger, draws, kiosk, key: Object.freeze(own) });
    Object.freeze(this);
    if (key === null) checkBudget(survey, allowance);
  }

  /**
   * A respondent for the survey that a link names, in whichever of its revisions; refuses a survey that is another one.
   * `link.held` is its canonical bytes, where the page holds them.
   *
   * @throws {TransportError} unreachable, or another survey than the link's digest names
   * @throws {SpecError} what is sent is not a survey
   */
  static async connect(link, transport, ledger, options = {}) {
    const survey = await loadSurvey(await pinned(link, transport));
    if (survey.name !== link.survey) throw new TransportError("error_other_survey");
    return new Respondent(survey, transport, ledger, { wave: link.wave, ...options, token: link.token });
  }

  /**
   * Indices of what this person's report has values of; under `ask`, or with arms, drawn and recorded before any
   * question is shown.
   *
   * @throws {BudgetExhausted} the ledger cannot be written or read
   */
  async asked() {
    if (!this.survey.samplesInArm) return [...this.survey.questions.keys()];
    const { keepAsked } = await import("./question_sample.js");
    return keepAsked(this, await this.arm());
  }

  /**
   * The name of this person's arm, drawn and recorded when it is first needed; undefined without arms.
   *
   * @throws {BudgetExhausted} the ledger cannot be written or read
   */
  async arm() {
    return this.survey.arms ? (await import("./arm_draw.js")).keepArm(this) : undefined;
  }

  /**
   * The entry of the report that was already drawn, or null; once drawn, answers would change nothing.
   *
   * @throws {BudgetExhausted} none may be drawn: the memo of all waves is forgotten, or of other odds
   * @throws {TransportError} none may be drawn: signatures were asked for here, and now the survey asks for none
   */
  async drawn() {
    const entry = await this.ledger.get(this.key);
    if (entry !== null || this.survey === null) return entry;
    // An invitation that was redeemed unseen would else be sent beside a report.
    const isKnown = !this.survey.isBlind && (await this.ledger.get(signersKey(this.key))) !== null;
    if (isKnown) throw new TransportError("error_revisions");
    if (!this.survey.memoized.length) return entry;
    const { checkMemo } = await import("./memo.js");
    await checkMemo(this);
    return null;
  }

  /** Total epsilon of all reports drawn in this browser for this aggregator. */
  async spent() {
    return this.ledger.spent(this.transport.origin);
  }
}

// The bytes that the link's digest names. Which revision is wanted, no request says.
async function pinned(link, transport) {
  const bytes = link.held ?? (await transport.fetchSurvey(link.survey));
  if ((await sha256(bytes)).startsWith(link.digest)) return bytes;
  if (link.held) throw new TransportError("error_other_survey");
  const { revisionOf } = await import("./revisions.js");
  return revisionOf(transport, link.survey, link.digest, bytes);
}

function keyOf({ access, kiosk, name, waves }, origin, wave, token) {
  const isPersonal = access !== "open";
  // Where a device is handed round, each person types a token.
  if (isPersonal && !token && !kiosk) throw new TransportError("error_token");
  if (!(wave >= 0 && wave < waves)) throw new TransportError("error_wave");
  // A survey that is open to all ignores a token: it would only buy a second draw.
  return [origin, name, wave, isPersonal ? token : ""];
}

function checkBudget(survey, allowance) {
  for (const { epsilon, name } of survey.questions) within(epsilon, allowance.question, "error_question_budget", name);
  within(survey.epsilon, allowance.total, "error_total_budget");
}

function within(epsilon, limit, sentence, question) {
  // Written so that an epsilon or a limit that is not a number refuses.
  if (!(epsilon <= limit)) throw new BudgetExhausted(sentence, { epsilon: showEpsilon(epsilon), limit, question });
}
