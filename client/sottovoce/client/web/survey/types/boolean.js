import { Domain } from "../answers.js";
import { SelectOneType } from "./select_one.js";

const BOOLEAN_OPTIONS = ["no", "yes"];

/** Yes or no; the true value is 1 for yes. */
export class BooleanType extends SelectOneType {
  static typeName = "boolean";
  static truth = "yes_no";
  static keys = [];
  static listKey = "";

  /** The same for every such question. */
  static domain() {
    return new Domain(BOOLEAN_OPTIONS);
  }
}
