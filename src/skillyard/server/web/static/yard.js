"use strict";
// Everything here is comfort: pages and forms work without it.

const palette = document.getElementById("palette");

function isTyping(target) {
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}

document.addEventListener("keydown", (event) => {
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

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-send]")) event.target.form.requestSubmit();
});

// On a narrow screen places and tabs stand in one line: the present one is in sight.
for (const present of document.querySelectorAll(".bar nav [aria-current], .tabs [aria-current]")) {
  present.parentElement.scrollLeft = present.offsetLeft - present.parentElement.offsetLeft - 16;
}

// Live: whatever is marked with data-news is asked for again when something of its kind changes.
const live = document.querySelector(".live");

function showLive(state) {
  live.hidden = false;
  live.dataset.live = state;
  live.querySelector("[role=status]").textContent = live.dataset[state];
}

let refreshing = 0;

function refresh(kinds, everything = false) {
  for (const part of document.querySelectorAll("[data-news]")) {
    const wanted = part.dataset.news.split(" ");
    if (everything || wanted.includes("*") || wanted.some((kind) => kinds.has(kind))) {
      htmx.ajax("GET", part.dataset.from || location.pathname + location.search, {
        target: part, select: "#" + part.id, swap: "outerHTML",
      });
    }
  }
}

function listen({ again = false } = {}) {
  if (!document.querySelector("[data-news]") || !window.EventSource) return;
  const kinds = new Set();
  const source = new EventSource("/api/v1/events");
  const take = (event) => {
    kinds.add(JSON.parse(event.data).subject.kind);
    clearTimeout(refreshing);
    refreshing = setTimeout(() => { refresh(kinds); kinds.clear(); }, 150);
  };
  showLive("wait");
  source.onopen = () => {
    showLive("on");
    if (again) refresh(kinds, true);
    again = false;
  };
  // A browser gives up where the answer is an error, such as that of a proxy whose server starts anew.
  source.onerror = () => {
    const isOver = source.readyState === EventSource.CLOSED;
    showLive(isOver ? "off" : "wait");
    if (isOver) setTimeout(listen, 10_000, { again: true });
  };
  source.addEventListener("change", take);
  source.addEventListener("removed", take);
  addEventListener("pagehide", () => source.close(), { once: true });
}

// A page that the browser kept for the way back has missed what happened meanwhile.
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  listen();
  refresh(new Set(), true);
});

document.addEventListener("htmx:afterSwap", (event) => offerCopies(event.target));
offerCopies(document);
listen();
