/**
 * The studio's one script. Every page is whole without it; with it, the parts that say so refresh in place.
 *
 * A form with `data-refresh="part other"` is sent in the background a second after the last key, and at once when the
 * page is left; of the page that comes back, the elements with these ids are put in the place of those that are here.
 * They must hold no field that is typed in. The element that `data-status` names says how it went, in its own words:
 * data-saving, data-saved, data-unsaved, and data-conflict where somebody else was faster. A button that is pressed
 * meanwhile waits for what is under way.
 *
 * A section with `data-refresh-every="seconds"` asks for its page again while it can be seen, and is left alone while
 * nothing has changed; `data-etag` is what it has. A button with `data-copy` copies the text of the element with
 * that id, then says data-copied.
 */
const SECOND = 1000;
const LONGEST_KEPT_ALIVE = 60_000;

function swap(page, id) {
  const fresh = page.getElementById(id);
  const old = document.getElementById(id);
  if (!fresh || !old || fresh.isEqualNode(old)) return;
  const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
  // What a reader has opened stays open.
  for (const { id: opened } of old.querySelectorAll("details[open][id]")) {
    fresh.querySelector(`#${opened}`)?.setAttribute("open", "");
  }
  old.replaceWith(fresh);
  if (focused) document.getElementById(focused)?.focus();
}

async function pageOf(address, options) {
  const reply = await fetch(address, { credentials: "same-origin", ...options });
  const isHere = new URL(reply.url).pathname === new URL(address, location.href).pathname;
  if (!isHere) throw new Error("the session has ended");
  return { status: reply.status, page: new DOMParser().parseFromString(await reply.text(), "text/html") };
}

function tell(form, key) {
  const place = document.getElementById(form.dataset.status ?? "");
  if (place) place.textContent = place.dataset[key] ?? "";
}

async function send(form) {
  tell(form, "saving");
  try {
    // Not as multipart: a long questionnaire has more fields than that may have parts.
    const body = new URLSearchParams(new FormData(form));
    // It comes to its end though the page goes, as far as browsers let that be asked for.
    const keepalive = body.toString().length < LONGEST_KEPT_ALIVE;
    const { status, page } = await pageOf(form.action, { method: "POST", body, keepalive });
    if (status === 200) for (const id of form.dataset.refresh.split(" ")) swap(page, id);
    tell(form, status === 200 ? "saved" : status === 409 ? "conflict" : "unsaved");
  } catch {
    tell(form, "unsaved");
  }
}

function refreshForm(form) {
  let timer = 0;
  let underWay = null;
  const save = async () => {
    await underWay;
    underWay = send(form);
    await underWay;
    underWay = null;
  };
  const wait = (then) => {
    clearTimeout(timer);
    timer = then ? setTimeout(then, SECOND) : 0;
  };
  const saveNow = () => {
    if (!timer) return;
    wait(null);
    save();
  };
  form.addEventListener("input", () => wait(saveNow));
  // Whoever goes to another page, or puts the telephone away, loses no second.
  document.addEventListener("visibilitychange", () => document.hidden && saveNow());
  globalThis.addEventListener("pagehide", saveNow);
  form.addEventListener("submit", async (event) => {
    wait(null);
    if (!underWay) return;
    event.preventDefault();
    await underWay;
    form.requestSubmit(event.submitter);
  });
}

function refreshSection(section) {
  const again = async () => {
    if (!document.hidden) {
      try {
        // Replies are not to be kept, so the browser does not ask by itself whether it has this one already.
        const known = document.getElementById(section.id)?.dataset.etag;
        const headers = known ? { "If-None-Match": `"${known}"` } : {};
        const { status, page } = await pageOf(location.href, { headers });
        if (status === 200) swap(page, section.id);
      } catch {
        return;
      }
    }
    setTimeout(again, Number(section.dataset.refreshEvery) * SECOND);
  };
  setTimeout(again, Number(section.dataset.refreshEvery) * SECOND);
}

function copyButton(button) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent.trim());
    button.textContent = button.dataset.copied;
  });
}

for (const form of document.querySelectorAll("form[data-refresh]")) refreshForm(form);
for (const section of document.querySelectorAll("[data-refresh-every]")) refreshSection(section);
for (const button of document.querySelectorAll("button[data-copy]")) copyButton(button);
