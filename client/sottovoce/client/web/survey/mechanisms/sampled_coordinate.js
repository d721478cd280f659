import { RoundingRR } from "./rounding_rr.js";

/** One of several numbers, drawn whatever the truth; its end through the channel that this extends. */
export class SampledCoordinate extends RoundingRR {
  static mechanismName = "sampled_coordinate";
  static serves = "numbers";
  static reportKind = "drawn_end";

  /** `{ name: "sampled_coordinate", a: "3/4", b: "1/4" }`. */
  constructor(fields, domain) {
    super(fields, domain);
    this.coordinates = domain.options.length;
    this.largest = 2 * this.coordinates - 1;
  }

  /** The number of coordinates, and the shares of the bit. */
  explain() {
    return { coordinates: this.coordinates, ...super.explain() };
  }
}
