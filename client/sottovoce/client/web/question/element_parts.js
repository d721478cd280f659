/** What the button says, by language; what goes wrong is said by what stands inside the tag. */
export const BUTTON = {
  en: "Answer in private (new window)",
  ar: "أجب على انفراد (نافذة جديدة)",
  de: "Vertraulich antworten (neues Fenster)",
  es: "Responder en privado (ventana nueva)",
  fr: "Répondre en privé (nouvelle fenêtre)",
  hi: "निजी उत्तर दें (नई विंडो)",
  it: "Rispondere in privato (nuova finestra)",
  pt: "Responder em particular (nova janela)",
  zh: "私下回答（新窗口）",
};

/** A mistake of the page around a question, for the console; an empty text for none. */
export function faultOf(element) {
  for (const needed of ["participant", "src"]) if (!element.hasAttribute(needed)) return `${needed} is missing`;
  if (element.hasAttribute("question") && !element.question) return "question is not JSON";
  const { form, name, state } = element;
  // Once it has a state, the columns in the form are its own.
  return !state && form && new FormData(form).has(`${name}_state`) ? `two questions are named ${name}` : "";
}

/** A new node of the page, with its properties. */
export function node(tag, properties) {
  return Object.assign(document.createElement(tag), properties);
}
