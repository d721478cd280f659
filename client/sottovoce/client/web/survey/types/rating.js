import { SelectOneType } from "./select_one.js";

/** One of some options in an order, shown side by side. */
export class RatingType extends SelectOneType {
  static typeName = "rating";
  static sideBySide = true;
}
