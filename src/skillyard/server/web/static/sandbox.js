"use strict";
// What happens in sandboxes shows as it happens. Without this, pages show it when they are loaded again.

const stream = document.querySelector("[data-stream]");
const runs = new Map();
let renewing = 0;

async function renew() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of document.querySelectorAll("[data-part]")) {
    const fresh = page.getElementById(part.id);
    if (fresh && !part.contains(document.activeElement)) part.replaceWith(document.importNode(fresh, true));
  }
  offerCopies(document);
}

function renewSoon() {
  clearTimeout(renewing);
  renewing = setTimeout(renew, 150);
}

function begun({ run, kind, code }) {
  if (runs.has(run)) return;
  const card = document.getElementById("run-shape").content.firstElementChild.cloneNode(true);
  const name = document.querySelector(`[data-kind-name="${CSS.escape(kind)}"]`);
  card.querySelector("[data-kind]").textContent = name ? name.textContent : kind;
  card.querySelector("[data-code]").textContent = code;
  document.getElementById("running").append(card);
  document.getElementById("result").replaceChildren();
  runs.set(run, card);
}

function wrote({ run, stream: from, text }) {
  const output = runs.get(run)?.querySelector("[data-output]");
  if (!output) return;
  const below = output.scrollHeight - output.scrollTop - output.clientHeight < 20;
  const piece = document.createElement("span");
  piece.className = from;
  piece.textContent = text;
  output.append(piece);
  while (output.childNodes.length > 2000) output.firstChild.remove();
  if (below) output.scrollTop = output.scrollHeight;
}

function ended({ run }) {
  runs.get(run)?.remove();
  runs.delete(run);
  renewSoon();
}

function watch() {
  const source = new EventSource(stream.dataset.stream);
  const on = (name, take) => source.addEventListener(name, (event) => take(JSON.parse(event.data)));
  showLive("wait");
  source.onopen = () => {
    for (const card of runs.values()) card.remove();
    runs.clear();
    showLive("on");
  };
  source.onerror = () => showLive(source.readyState === EventSource.CLOSED ? "off" : "wait");
  on("begun", begun);
  on("wrote", wrote);
  on("ended", ended);
  on("changed", renewSoon);
  on("gone", () => { source.close(); location.assign("/sandboxes"); });
  addEventListener("pagehide", () => source.close());
}

// A run that is refused says why in the place of its result.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr, requestConfig } = event.detail;
  if (xhr.status < 400 || !requestConfig.elt.matches("[data-run]")) return;
  event.detail.shouldSwap = true;
  event.detail.isError = false;
  event.detail.selectOverride = "[role=alert]";
});

// The frame's own script comes after this one.
document.addEventListener("DOMContentLoaded", () => { if (stream && window.EventSource) watch(); });
