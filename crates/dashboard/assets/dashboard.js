// Renews the page when something has changed. Without it, everything still works.
"use strict";

const lost = document.getElementById("lost");
let isDirty = false;
let isBusy = false;

// Someone is writing: what they wrote must not vanish.
function isWriting() {
  const field = document.activeElement;
  if (field && field.closest("#main") && field.matches("textarea, input, select")) return true;
  const fields = document.querySelectorAll("#main textarea");
  return Array.from(fields).some((field) => field.value !== field.defaultValue);
}

function openDetails() {
  return Array.from(document.querySelectorAll("#main details[open][id]"), (one) => one.id);
}

// Only what differs is replaced, so that focus and scroll positions stay.
function renew(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  const both = Array.from(old.children);
  const others = Array.from(fresh.children);
  const isLeaf = old.tagName !== fresh.tagName || both.length === 0 || both.length !== others.length;
  const hasText = Array.from(old.childNodes).some((node) => node.nodeType === 3 && node.data.trim());
  if (isLeaf || hasText || old.cloneNode(false).isEqualNode(fresh.cloneNode(false)) === false) {
    old.replaceWith(fresh);
    return;
  }
  both.forEach((child, at) => renew(child, others[at]));
}

async function refresh() {
  if (isBusy || document.hidden || isWriting()) {
    isDirty = true;
    return;
  }
  isBusy = true;
  isDirty = false;
  try {
    const answer = await fetch(location.href, { credentials: "same-origin" });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById("main");
    const old = document.getElementById("main");
    if (fresh && !isWriting()) {
      const open = openDetails();
      const field = document.activeElement && document.activeElement.id;
      for (const id of open) {
        const one = fresh.querySelector("details#" + CSS.escape(id));
        if (one) one.open = true;
      }
      if (old.children.length === fresh.children.length) {
        Array.from(old.children).forEach((child, at) => renew(child, fresh.children[at]));
      } else {
        old.replaceChildren(...fresh.childNodes);
      }
      document.title = page.title;
      if (field && document.activeElement === document.body) {
        const again = document.getElementById(field);
        if (again) again.focus({ preventScroll: true });
      }
    }
  } catch {
    isDirty = true;
  }
  isBusy = false;
}

const changes = new EventSource("/changes");
changes.onmessage = refresh;
changes.onopen = () => {
  if (!lost.hidden) refresh();
  lost.hidden = true;
};
changes.onerror = () => {
  lost.hidden = false;
};
document.addEventListener("visibilitychange", () => {
  if (isDirty) refresh();
});
document.addEventListener("focusout", () => {
  if (isDirty) setTimeout(refresh, 0);
});
addEventListener("pagehide", () => changes.close());
