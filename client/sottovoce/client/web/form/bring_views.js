import { RARE_VIEWS } from "./choice_input.js";
import { RARE_READERS } from "../survey/known.js";
import { isRare } from "../survey/bring.js";

/** Have what a survey's questions need on the page. It comes with the survey that names it. */
export async function bringViews({ document, ownCoin }) {
  if (ownCoin) Object.assign(RARE_VIEWS, await import("./by_hand/own_coin_view.js"));
  if (!isRare(document)) return;
  Object.assign(RARE_VIEWS, await import("./rare_items.js"), await import("./number_input.js"));
  if (RARE_READERS.checkInnocuous) Object.assign(RARE_VIEWS, await import("./by_hand/second_statement.js"));
}
