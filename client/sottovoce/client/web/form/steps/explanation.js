import { disclosure } from "../disclosure.js";
import { button, element } from "../dom.js";
import { provided } from "../../registry.js";
import { mostRevealing, oddsPicture } from "./odds_picture.js";
import { showEpsilon } from "../../survey/rational.js";

/**
 * The first step: what protects the answers, on one screen, all of it derived from the survey.
 *
 * `known` is { hasDigest, spent, allowance }: whether the link pins the survey, what earlier reports to this aggregator
 * cost, what the person allows. `on` is { begin, practise, limits }: what its buttons do, and the form for her limits.
 */
export function explanationStep(survey, words, known, on) {
  const start = words.text("h1", survey.title, { tabIndex: -1 });
  const node = element("div", { id: "explanation" }, start);
  if (survey.description !== null) node.append(words.text("p", survey.description, { className: "lead" }));
  if (!known.hasDigest) node.append(words.said("p", "no_digest", {}, { className: "note" }));
  const most = mostRevealing(survey);
  if (most) node.append(protection(survey, words, known, on, most));
  else node.append(words.said("p", "all_public", {}, { className: "note" }));
  if (survey.consent !== null) {
    node.append(element("section", {}, words.said("h2", "consent_title"), words.text("p", survey.consent)));
  }
  const actions = [button(words.node("begin"), "primary", on.begin)];
  if (most && !survey.ownCoin) actions.push(button(words.node("practise"), "", on.practise));
  node.append(element("div", { className: "actions" }, ...actions));
  return { node, start };
}

function protection(survey, words, { spent, allowance }, on, most) {
  const how = words.said("p", survey.ownCoin ? "explain_own_coin" : "explain_how");
  const section = element("section", {}, words.said("h2", "explain_title"), how, words.said("p", "no_lie"));
  // Named as the weakest only where another question is protected better.
  const isBetter = ({ epsilon }) => epsilon > 0 && epsilon < most.epsilon;
  if (survey.questions.some(isBetter)) section.append(words.said("p", "weakest"));
  section.append(oddsPicture(most, words), learned(words));
  const cost = { epsilon: showEpsilon(survey.epsilon), limit: allowance.total };
  section.append(words.said("p", "explain_epsilon", cost));
  if (survey.ask !== null || survey.waves > 1) section.append(...provided("wavesNotes")(survey, words));
  if (spent > 0) section.append(words.said("p", "spent", { spent: showEpsilon(spent) }));
  section.append(on.limits(), disclosure(words, "limits_title", "limitsList"));
  return section;
}

// What follows for the person: who learns what.
function learned(words) {
  const rows = [
    ["learn_totals", "learn_totals_what"],
    ["learn_nobody", "learn_nobody_what"],
    ["learn_server", "learn_server_what"],
  ];
  const pairs = rows.map(([who, what]) => element("div", {}, words.said("dt", who), words.said("dd", what)));
  return element("dl", { className: "learn" }, ...pairs);
}
