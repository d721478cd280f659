// All that is said on the page itself; what goes wrong is said by what stands inside the tag.
const BUTTON = {
  en: "Answer in private (new window)",
  ar: "أجب على انفراد (نافذة جديدة)",
  de: "Vertraulich antworten (neues Fenster)",
  es: "Responder en privado (ventana nueva)",
  fr: "Répondre en privé (nouvelle fenêtre)",
  hi: "निजी तौर पर उत्तर दें (नई विंडो)",
  it: "Rispondere in privato (nuova finestra)",
  pt: "Responder em particular (nova janela)",
  zh: "私下回答（新窗口）",
};

/** What the button of a question says. */
export function labelOf({ ariaLabel, name }, language) {
  return `${BUTTON[language.split("-")[0]] ?? BUTTON.en}: ${ariaLabel ?? name}`;
}

/** A mistake of the page around a question, for the console; an empty text for none. */
export function faultOf(element) {
  const lacking = ["participant", "src"].find((name) => !element.hasAttribute(name));
  if (lacking) return `${lacking} is missing`;
  if (element.hasAttribute("question") && !element.question) return "question is not JSON";
  const isAsked = ({ state }) => state && state !== "blocked";
  const isSame = (other) => isAsked(other) && other.form === element.form && other.name === element.name;
  const shown = [...document.querySelectorAll("sottovoce-question")].filter(isSame);
  return shown.some((other) => other !== element) ? `two questions of one form are named ${element.name}` : "";
}

/** A new node of the page, with its properties. */
export function node(tag, properties) {
  return Object.assign(document.createElement(tag), properties);
}

/** What a text says in JSON; null for none. */
export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
