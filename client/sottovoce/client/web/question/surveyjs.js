import { defineQuestion } from "./element.js";

const TYPE = "sottovoce";
const PROPERTIES = ["src", "participant", "study", "mode"];

/**
 * A question type for SurveyJS: `{ type: "sottovoce", name, src, question, participant, study }`. `question` is JSON
 * as text, since SurveyJS makes a question of its own of an object. The survey's data get the three columns of the
 * record; a variable such as `{participant}` may stand in the participant.
 */
export function registerSottovoceQuestion({ CustomWidgetCollection, Serializer }) {
  defineQuestion();
  CustomWidgetCollection.Instance.add({
    name: TYPE,
    isFit: (question) => question.getType() === TYPE,
    init: () => Serializer.addClass(TYPE, [...PROPERTIES, "question:text"], null, "empty"),
    htmlTemplate: "<div></div>",
    afterRender: show,
  }, "customtype");
}

function show(question, place) {
  const { survey } = question;
  const node = document.createElement("sottovoce-question");
  for (const name of PROPERTIES) node.setAttribute(name, survey.processText(question[name] ?? "", false));
  node.addEventListener("sottovoce-state", () => {
    const columns = Object.entries(node.columns).filter(([name, value]) => value && name !== question.name);
    for (const [name, value] of columns) survey.setValue(name, value);
  });
  node.setAttribute("name", question.name);
  node.setAttribute("question", question.question);
  node.addEventListener("sottovoce-record", ({ detail }) => {
    // A block has columns of its questions' names; this is what its own name stands for, as where it is required.
    question.value = detail.value;
  });
  place.replaceChildren(node);
}
