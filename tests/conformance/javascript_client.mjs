// Runs the browser's client for an audit: jobs come line by line, outcomes go to the descriptor of the argument.
// The twin of client_program.py, with the same jobs and outcomes; see there. Requests go to the audit's listener.
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";

import { loadProduct } from "./javascript_product.mjs";
import { KeyRange, Storage } from "./javascript_storage.mjs";

const REPLIES = Number(process.argv[2]);
const NO_WAIT = async () => {};
const AT_ONCE = (work) => work();
const ORDINARY = 1_700_000_000;

const { Date: SystemDate } = globalThis;
// What the clock shows, in seconds since 1970.
let moment = ORDINARY;

class PlatformDate extends SystemDate {
  constructor(...given) {
    super(...(given.length === 0 ? [PlatformDate.now()] : given));
  }

  static now() {
    return moment * 1000;
  }
}

Object.assign(globalThis, { IDBKeyRange: KeyRange, Date: PlatformDate });
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const { scripts } = JSON.parse((await lines.next()).value);
const product = await loadProduct(scripts);

/** Random bytes to read once. */
class Tape {
  used = 0;

  constructor(digits) {
    this.content = Uint8Array.from(Buffer.from(digits, "hex"));
  }

  read = (count) => {
    this.used += count;
    return this.content.slice(this.used - count, this.used);
  };
}

/** One person with one link. */
class Visit {
  messages = [];

  constructor(job, visit, storage) {
    Object.assign(this, { job, visit, storage, tape: new Tape(visit.tape) });
    moment = visit.present ?? ORDINARY;
  }

  async perform() {
    let respondent = null;
    try {
      respondent = await this.#begin();
      if (this.visit.end !== "look") await this.#answer(respondent);
    } catch (error) {
      this.#tell(error);
    }
    return { messages: this.messages, used: this.tape.used, spent: (await respondent?.spent()) ?? 0 };
  }

  async #begin() {
    product.checkDevice();
    const transport = new product.Transport(this.job.origin, undefined, NO_WAIT);
    const ledger = await product.BrowserLedger.open(this.storage);
    const link = product.parseLink(this.visit.link);
    const [question, total] = this.visit.allowance ?? [null, null];
    const allowance = { question: question ?? Infinity, total: total ?? Infinity };
    const options = { allowance, draws: new product.Draws(this.tape.read), wave: link.wave };
    const respondent = await product.Respondent.connect(link, transport, ledger, options);
    await respondent.drawn();
    return respondent;
  }

  async #answer(respondent) {
    const { before, answers, end } = this.visit;
    const asked = await respondent.asked();
    this.messages.push(asked.map((index) => respondent.survey.questions[index].name).join(" "));
    if (respondent.survey.isBlind) await product.redeem(respondent);
    const path = new product.AnswerPath(respondent, AT_ONCE);
    if (before !== null) await path.answer(before).catch((error) => this.#tell(error));
    this.messages.push(JSON.stringify(await this.#sent(path, answers)));
    if (end === "withdraw") await path.withdraw();
    if (end === "forget") await path.forget();
  }

  // The receipt; who has to wait, or is refused, sends again.
  async #sent(path, answers) {
    let send = () => path.answer(answers);
    for (let tries = 0; tries < 2; tries += 1) {
      try {
        return await send();
      } catch (error) {
        this.#tell(error);
        if (error.sendAt !== undefined) moment = error.sendAt;
        else if (!(error instanceof product.TransportError)) throw error;
        send = () => path.send();
      }
    }
    return path.send();
  }

  // A stack names the places of the scripts, which lie in another folder each time.
  #tell(error) {
    this.messages.push(`${error.code ?? error.name} ${error.message} ${JSON.stringify(error)}`);
  }
}

for await (const line of { [Symbol.asyncIterator]: () => lines }) {
  const job = JSON.parse(line);
  const storage = new Storage(`${job.home}/database.json`);
  const visits = [];
  for (const visit of job.visits) visits.push(await new Visit(job, visit, storage).perform());
  writeSync(REPLIES, `${JSON.stringify({ visits, status: 0 })}\n`);
}
