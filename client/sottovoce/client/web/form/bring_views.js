import { RARE_VIEWS } from "./choice_input.js";
import { isRare } from "../survey/bring.js";

/** Have what a survey's questions need on the page. It comes with the survey that names it. */
export async function bringViews({ document }) {
  if (!isRare(document)) return;
  Object.assign(RARE_VIEWS, await import("./rare_items.js"), await import("./number_input.js"));
}
