/**
 * Saves what is typed into a draft; each page is whole without it.
 *
 * A form with `data-refresh="part other"` is sent in the background a second after the last key, and at once when the
 * page is left; of the page that comes back, the elements with these ids are put in the place of those that are here,
 * but for those whose fields are the same as before. The element that `data-status` names says how it went, in its own
 * words: data-saving, data-saved, data-unsaved, and data-conflict if another person was faster. A button that is
 * pressed meanwhile waits for what is under way. What is sent stays in the tab's storage until a reply has said that it
 * is kept; a page that is loaded before that hears of it first, and goes on from there.
 */
import { SECOND, pageOf, swap } from "./studio.js";

const LONGEST_KEPT_ALIVE = 60_000;

function tell(form, key) {
  const place = document.getElementById(form.dataset.status ?? "");
  if (place) place.textContent = place.dataset[key] ?? "";
}

// What was typed and of which no reply has said that it is kept: for one survey and account, in this tab alone.
const BAR = document.querySelector("[data-kept]");
const KEY = `typed ${BAR.dataset.kept}`;
const VISIT = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16)).join("");
const unsent = new Set();
let saves = 0;

function unheard() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY)) ?? [];
  } catch {
    return []; // A browser may be told to keep nothing: then a page that was left too early says what came between.
  }
}

function keep(saved) {
  try {
    if (saved.length > 0) sessionStorage.setItem(KEY, JSON.stringify(saved));
    else sessionStorage.removeItem(KEY);
  } catch {
    return;
  }
}

const forget = (stamp) => keep(unheard().filter((each) => each.stamp !== stamp));
const fromBefore = () => unheard().filter((each) => each.visit !== VISIT);

/**
 * What a form holds now, as another save of this visit, which is kept until a reply has said that it has arrived. Which
 * button was pressed is not kept: a question that is deleted or moved later, unseen, would have others typed over.
 */
function typedIn(form) {
  unsent.delete(form);
  form.elements.stamp.value = `${VISIT}.${(saves += 1)}`;
  const fields = new URLSearchParams(new FormData(form));
  fields.delete("form_token");
  const save = { visit: VISIT, stamp: form.elements.stamp.value, address: form.action, fields: fields.toString() };
  keep([...fromBefore(), save]);
  return save;
}

function post({ address, fields }, by) {
  // Not as multipart: a long questionnaire has more fields than that may have parts.
  const body = new URLSearchParams(fields);
  body.set("by", by);
  body.set("form_token", document.querySelector("[name=form_token]").value);
  // It comes to its end though the page goes, as far as browsers let that be asked for.
  const keepalive = body.toString().length < LONGEST_KEPT_ALIVE;
  return pageOf(address, { method: "POST", body, keepalive });
}

/** Return true if an element has fields, the same as before: then it stays, because a person may be typing in it. */
function asksTheSame(page, id) {
  const [fresh, old] = [page, document].map((each) => {
    const fields = each.querySelectorAll(`#${id} input:not([type=hidden])`);
    return [...fields].map(({ name, type, value }) => (type === "radio" ? name + value : name)).join(" ");
  });
  return old !== "" && fresh === old;
}

async function send(form) {
  tell(form, "saving");
  const save = typedIn(form);
  try {
    const { status, page } = await post(save, "script");
    if (status === 200) {
      forget(save.stamp);
      const moved = form.dataset.refresh.split(" ").filter((id) => !asksTheSame(page, id));
      for (const id of moved) swap(page, id);
    }
    tell(form, status === 200 ? "saved" : status === 409 ? "conflict" : "unsaved");
  } catch {
    tell(form, "unsaved");
  }
}

/** The fields in which something else was typed than the page came with. */
function changedIn(form) {
  const now = [...new FormData(form)];
  const copy = form.cloneNode(true);
  copy.reset();
  const before = new FormData(copy);
  const own = ["version", "of", "stamp", "card"];
  return now.filter(([name, value]) => before.get(name) !== value && !own.includes(name));
}

/** The form as another page has it, with what was typed into this one. */
function takeOver(form, page) {
  const changed = changedIn(form);
  const at = document.activeElement?.selectionStart;
  swap(page, form.id);
  const fresh = document.getElementById(form.id);
  for (const [name, value] of changed) {
    const field = fresh.elements.namedItem(name);
    if (field) field.value = value;
  }
  if (typeof at === "number") document.activeElement?.setSelectionRange?.(at, at);
  refreshForm(fresh);
  if (changed.length > 0) fresh.dispatchEvent(new Event("input"));
}

/** Show both texts if another person saved between typing here and the arrival of the request. */
async function showBoth(form, save) {
  const fields = new URLSearchParams(save.fields);
  for (const [name, value] of changedIn(form)) fields.set(name, value);
  const more = { ...save, fields: fields.toString() };
  keep(unheard().map((each) => (each.stamp === save.stamp ? more : each)));
  form.inert = true;
  try {
    const { status, page } = await post(more, "again");
    if (status === 409) swap(page, "main");
    if (status === 200) {
      // The same was typed by both.
      forget(save.stamp);
      location.reload();
    }
  } finally {
    form.inert = false;
  }
}

/** Take over what has arrived in the meantime; false if another person's text must be shown first. */
async function hasArrived(save, form) {
  const { status, page } = await post(save, "again");
  if (status === 409 && form) await showBoth(form, save);
  // Where the draft is gone there is nothing that this could be typed into.
  if (status !== 200 && status !== 404) return false;
  forget(save.stamp);
  const version = page.querySelector("[name=version]")?.value;
  if (form?.isConnected && version && version !== form.elements.version.value) takeOver(form, page);
  return true;
}

/** Hear of what a visit before this one has sent or could not send; true if all of it has arrived. */
async function settled(form) {
  try {
    for (const save of fromBefore()) if (!(await hasArrived(save, form))) return false;
    return true;
  } catch {
    return false;
  }
}

async function saveForm(form) {
  const isSettled = await settled(form);
  if (!form.isConnected) return;
  if (isSettled) await send(form);
  else {
    typedIn(form);
    tell(form, "unsaved");
  }
}

/** The button again that was pressed, which may have been put in the place of itself since. */
function press({ target, submitter }) {
  if (!target.isConnected) return;
  const isIt = ({ name, value }) => name === submitter.name && value === submitter.value;
  const button = submitter && [...target.elements].find(isIt);
  if (button || !submitter) target.requestSubmit(button);
}

function secondAfter() {
  let timer = 0;
  return (then) => {
    clearTimeout(timer);
    timer = then ? setTimeout(then, SECOND) : 0;
  };
}

function refreshForm(form) {
  const wait = secondAfter();
  let underWay = null;
  const until = (work) => {
    const all = Promise.allSettled([underWay, work]).then(() => {
      if (underWay === all) underWay = null;
    });
    underWay = all;
  };
  const save = async () => {
    wait(null);
    await underWay;
    until(saveForm(form));
  };
  // Leaving the page or locking the phone must not lose the last second of typing, so save without a delay.
  const saveNow = () => {
    if (!unsent.has(form) || !form.isConnected) return;
    wait(null);
    if (fromBefore().length > 0) typedIn(form);
    else until(send(form));
  };
  form.addEventListener("input", () => {
    unsent.add(form);
    wait(save);
  });
  document.addEventListener("visibilitychange", () => document.hidden && saveNow());
  globalThis.addEventListener("pagehide", saveNow);
  document.addEventListener("submit", async (event) => {
    if (!form.isConnected) return;
    const isOurs = event.target === form;
    if (isOurs) wait(null);
    else saveNow();
    if (underWay) {
      event.preventDefault();
      await underWay;
      press(event);
    } else if (isOurs) typedIn(form);
  });
  if (fromBefore().length > 0) until(settled(form));
}

/** The live form follows the card that is in use: a message to its frame, which has no origin to name. */
function followCard({ target }) {
  const card = target.closest(".question");
  const field = document.querySelector("form.design [name=card]");
  if (!card || !field || field.value === card.dataset.card) return;
  if (target === card.firstElementChild && !target.open) return;
  field.value = card.dataset.card;
  document.querySelector("iframe.previewed")?.contentWindow.postMessage(Number(card.dataset.at), "*");
}

/** Press a button of the form that the page does not show. */
function pressFor(command) {
  const form = document.querySelector("form.design");
  const button = Object.assign(document.createElement("button"), { name: "do", value: command, hidden: true });
  form.append(button);
  form.requestSubmit(button);
}

/** Number of the question that an event in the outline is about; -1 outside of it. */
function placeOf({ target }) {
  const line = target.closest?.(".outline li");
  return line ? [...line.parentNode.children].indexOf(line) : -1;
}

/** The outline orders questions too: by dragging, and by Alt with an arrow; the cards have buttons for it. */
let dragged = -1;
document.addEventListener("dragstart", (event) => {
  dragged = placeOf(event);
});
document.addEventListener("dragover", (event) => {
  if (dragged >= 0 && placeOf(event) >= 0) event.preventDefault();
});
document.addEventListener("drop", (event) => {
  const place = placeOf(event);
  if (dragged < 0 || place < 0) return;
  event.preventDefault();
  if (place !== dragged) pressFor(`to:${dragged}:${place}`);
});
document.addEventListener("dragend", () => {
  dragged = -1;
});
document.addEventListener("keydown", (event) => {
  const word = { ArrowUp: "up", ArrowDown: "down" }[event.key];
  const place = placeOf(event);
  if (!event.altKey || !word || place < 0) return;
  event.preventDefault();
  pressFor(`${word}:${place}`);
});

document.addEventListener("focusin", followCard);
document.addEventListener("toggle", followCard, true);
const forms = document.querySelectorAll("form[data-refresh]");
// A page that says which save has made its version needs not be asked.
forget(BAR.dataset.stamp);
for (const form of forms) refreshForm(form);
if (forms.length === 0 && fromBefore().length > 0) settled(null).then((all) => all && location.reload());
