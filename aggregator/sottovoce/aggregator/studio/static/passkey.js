// Asks the browser for a passkey with the question that stands in the form, and sends its answer as the form would.
const form = document.querySelector("form[data-question]");
const button = form.querySelector("button");
const message = form.querySelector("[role=alert]");

async function askBrowser() {
  const question = JSON.parse(form.dataset.question);
  if (form.dataset.asks === "create") {
    return navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(question) });
  }
  return navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(question) });
}

async function send(event) {
  event.preventDefault();
  message.hidden = true;
  try {
    form.elements.answer.value = JSON.stringify(await askBrowser());
    form.submit();
  } catch {
    // The browser does not say why: it may have been refused by the person, or have no passkey of this site.
    message.textContent = form.dataset.none;
    message.hidden = false;
  }
}

form.querySelector("[data-without-script]").hidden = true;
if (globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON) {
  form.addEventListener("submit", send);
  button.disabled = false;
} else {
  message.textContent = form.dataset.unable;
  message.hidden = false;
}
