"use strict";
// Everything here is comfort: pages and forms work without it.

const palette = document.getElementById("palette");

function isTyping(target) {
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}

document.addEventListener("keydown", (event) => {
  if (event.isComposing) return;  // the arrows choose among what an input method offers
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    const input = palette.querySelector("input");
    if (!palette.open) palette.showModal();
    input.select();
    input.dispatchEvent(new Event("search"));  // before anything is typed, it offers the places
  } else if (event.key === "/" && !isTyping(event.target) && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    document.querySelector("[data-focus='/']").focus();
  } else if (palette.open && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    const places = [...palette.querySelectorAll("a")];
    const step = event.key === "ArrowDown" ? 1 : -1;
    const next = places[places.indexOf(document.activeElement) + step];
    (next || palette.querySelector("input")).focus();
    event.preventDefault();
  }
});

palette.addEventListener("click", (event) => {
  if (event.target === palette) palette.close();
});

// A colour of the theme for what is drawn: its variable holds that of both.
function colour(name) {
  const sample = document.body.appendChild(document.createElement("i"));
  sample.style.color = `var(${name})`;
  const { color } = getComputedStyle(sample);
  sample.remove();
  return color;
}

function offerCopies(root) {
  for (const button of root.querySelectorAll("[data-copy]")) button.hidden = !navigator.clipboard;
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  const text = button.textContent;
  button.textContent = "✓";
  setTimeout(() => { button.textContent = text; }, 1200);
});

document.addEventListener("submit", (event) => {
  const question = event.submitter?.dataset.confirm ?? event.target.dataset.confirm;
  if (question && !window.confirm(question)) event.preventDefault();
  if (event.defaultPrevented || event.target.method !== "post") return;
  // A second click while the answer is on its way would do everything twice.
  if (event.target.dataset.sent) event.preventDefault();
  event.target.dataset.sent = "yes";
  setTimeout(() => { delete event.target.dataset.sent; }, 3000);
});

// What was chosen in a list since is in the address, not in the form.
document.querySelector(".choices").addEventListener("submit", ({ target }) => { target.next.value = location.pathname + location.search; });

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-slug]")) {
    const words = event.target.value.normalize("NFKC").toLowerCase().replace(/[^\p{L}\p{M}\p{N}]+/gu, "-");
    event.target.value = words.replace(/^-+|-+$/g, "");
  }
  if (event.target.matches("[data-send]")) event.target.form.requestSubmit();
});

// What was typed and not sent is not left by a slip.
let unsent = null;
document.addEventListener("input", ({ target }) => { if (target.form?.matches("[data-unsent]")) unsent = target.form; });
document.addEventListener("submit", (event) => { if (!event.defaultPrevented) unsent = null; });
window.addEventListener("beforeunload", (event) => { if (unsent?.isConnected) event.preventDefault(); });

// On a narrow screen places and tabs stand in one line: the present one is in sight, and so is the one that the keyboard reaches.
for (const present of document.querySelectorAll(".bar nav [aria-current], .tabs [aria-current]")) {
  present.parentElement.scrollLeft = present.offsetLeft - present.parentElement.offsetLeft - 16;
}
document.addEventListener("focusin", ({ target }) => {
  if (target.matches(".bar nav a, .tabs a")) target.scrollIntoView({ block: "nearest", inline: "nearest" });
});

// What htmx is refused is a page that says why, and is said here.
document.addEventListener("htmx:configRequest", ({ detail }) => { detail.headers.Accept = "text/html"; });
document.addEventListener("htmx:sendError", () => tell("failed", "unreachable"));
document.addEventListener("htmx:responseError", ({ detail: { xhr } }) => {
  const page = new DOMParser().parseFromString(xhr.responseText, "text/html");
  if (xhr.status === 401) tell("failed", "signed-out");
  else tell("failed", "failed", page.querySelector("main [role=alert]")?.textContent.trim().replace(/\s+/g, " "));
});
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (isDoor(detail.xhr.responseURL)) {
    detail.shouldSwap = false;
    tell("failed", "signed-out");
  } else if (detail.xhr.status < 400) document.getElementById("failed").replaceChildren();
});

for (const name of ["htmx:afterSwap", "renewed"]) document.addEventListener(name, (event) => offerCopies(event.target));
offerCopies(document);
