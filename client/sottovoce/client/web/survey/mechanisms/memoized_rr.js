import { must } from "../rational.js";
import { readFields, readInteger } from "../checks.js";
import { BinaryRR, Mechanism } from "./common.js";

const BILLION = 1_000_000_000n;

/** Yes/no in several waves, through one draw that the device remembers; `epsilon` covers all waves. */
export class MemoizedRR extends Mechanism {
  static mechanismName = "memoized_rr";
  static serves = "yes_no";
  static reportKind = "waves";
  largest = 1;

  /** `{ name: "memoized_rr", permanent: {...}, instantaneous: {...}, waves: 4 }`, the layers as binary_rr. */
  constructor(fields) {
    super();
    readFields(fields, ["name", "permanent", "instantaneous", "waves"]);
    this.waves = readInteger(fields.waves, 2, 52);
    [this.permanent, this.instantaneous] = [fields.permanent, fields.instantaneous].map((layer) => {
      must(layer?.name === "binary_rr");
      return new BinaryRR(layer);
    });
    this.epsilon = worstTrajectories(this);
    must(Number.isFinite(this.epsilon));
  }

  /** How many report yes in one wave, of those whose truth is yes and no; and how many waves epsilon covers. */
  explain() {
    const { instantaneous, permanent } = this;
    const [[zero, one], [, oneIfPermanent]] = [instantaneous.weights(0), instantaneous.weights(1)];
    const share = ([no, yes]) => [no * one + yes * oneIfPermanent, (no + yes) * (zero + one)];
    return { yes: share(permanent.weights(1)), no: share(permanent.weights(0)), waves: this.waves };
  }
}

// ln of the worst ratio over all reports of all waves and all pairs of trajectories; see the Python twin.
function worstTrajectories({ instantaneous, permanent, waves }) {
  const permanentWeights = [0, 1].map((truth) => permanent.weights(truth).map(BigInt));
  const reportWeights = [0, 1].map((answer) => instantaneous.weights(answer).map(BigInt));
  const counts = [...Array(waves + 1).keys()];
  const power = (m, report, times) => reportWeights[m][report] ** BigInt(times);
  const under = (truth, m, yes, no) => permanentWeights[truth][m] * power(m, 0, no) * power(m, 1, yes);
  const run = (truth, yes, no) => under(truth, 0, yes, no) + under(truth, 1, yes, no);
  const runs = [0, 1].map((truth) => counts.map((yes) => counts.slice(yes).map((_, no) => run(truth, yes, no))));
  let worst = 0;
  for (let yes = 0; yes <= waves; yes++) {
    const no = waves - yes;
    const [most, least] = extremes(runs, yes, no);
    // Billionths of billionths, so that the excess is a Number with all its digits.
    worst = Math.max(worst, Math.log1p(Number(((most - least) * BILLION ** 2n) / least) / 1e18));
  }
  return worst;
}

// The most and the least likely course of the truth to so many reports of yes and of no.
function extremes(runs, yes, no) {
  let [most, least] = [0n, 0n];
  for (let i = 0; i <= yes; i++) {
    for (let j = 0; j <= no; j++) {
      const likely = runs[1][i][j] * runs[0][yes - i][no - j];
      if (likely > most) most = likely;
      if (least === 0n || likely < least) least = likely;
    }
  }
  return [most, least];
}
