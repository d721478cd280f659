/**
 * The studio's script. Every page is whole without it; with it, the parts that say so refresh in place. What is typed
 * into a draft is saved by drafts.js.
 *
 * A section with `data-refresh-every="seconds"` asks for its page again while it can be seen, and is left alone while
 * nothing has changed; `data-etag` is what it has. With `data-until-gone` the page is loaded again once it comes
 * without that section. A form that asks for a page leaves empty fields out of its address. A button with `data-copy`
 * copies the text of the element with that id, then says data-copied.
 * A form or a link to a file with `data-busy` shows the element with that id while its reply is made.
 */
export const SECOND = 1000;

export function swap(page, id) {
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

export async function pageOf(address, options) {
  const reply = await fetch(address, { credentials: "same-origin", ...options });
  const isHere = new URL(reply.url).pathname === new URL(address, location.href).pathname;
  if (!isHere) throw new Error("the session has ended");
  return { status: reply.status, page: new DOMParser().parseFromString(await reply.text(), "text/html") };
}

function refreshSection(section) {
  const again = async () => {
    if (!document.hidden) {
      try {
        // Replies are not to be kept, so the browser does not ask by itself whether it has this one already.
        const known = document.getElementById(section.id)?.dataset.etag;
        const headers = known ? { "If-None-Match": `"${known}"` } : {};
        const { status, page } = await pageOf(location.href, { headers });
        if ("untilGone" in section.dataset && status < 500 && !page.getElementById(section.id)) {
          location.reload();
          return;
        }
        if (status === 200 || status === 202) swap(page, section.id);
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

// What was left empty, or as it is without it, makes the address long, and says nothing.
document.addEventListener("formdata", ({ target, formData }) => {
  const names = target.method === "get" ? [...formData.keys()] : [];
  const usual = (field) => field.matches?.("[data-usual]") && field.value === field.defaultValue;
  for (const name of names)
    if (!formData.getAll(name).some(Boolean) || usual(target.elements[name])) formData.delete(name);
});

function busyForm(form) {
  const bar = document.getElementById(form.dataset.busy);
  form.addEventListener("submit", () => (bar.hidden = false));
  // Back from the next page, the form is as it was left.
  addEventListener("pageshow", () => (bar.hidden = true));
}

function busyLink(link) {
  const bar = document.getElementById(link.dataset.busy);
  link.addEventListener("click", async (event) => {
    event.preventDefault();
    bar.hidden = false;
    try {
      const reply = await fetch(link.href, { credentials: "same-origin" });
      if (!reply.ok) throw new Error("its page says why");
      const save = document.createElement("a");
      save.download = /filename=(\S+)/.exec(reply.headers.get("Content-Disposition"))[1];
      save.href = URL.createObjectURL(await reply.blob());
      save.click();
      setTimeout(() => URL.revokeObjectURL(save.href), SECOND);
    } catch {
      location.href = link.href;
    }
    bar.hidden = true;
  });
}

for (const form of document.querySelectorAll("form[data-busy]")) busyForm(form);
for (const link of document.querySelectorAll("a[data-busy]")) busyLink(link);
for (const section of document.querySelectorAll("[data-refresh-every]")) refreshSection(section);
for (const button of document.querySelectorAll("button[data-copy]")) copyButton(button);
