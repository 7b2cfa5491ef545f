"use strict";
// What happens in sandboxes shows as it happens. Without this, pages show it when they are loaded again.

const stream = document.querySelector("[data-stream]");
const runs = new Map();

const renewAll = () => renew(everyPart());

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
  renewAll();
}

// What is still under way is told again.
function missed() {
  for (const card of runs.values()) card.remove();
  runs.clear();
  renewAll();
}

// A run that is refused says why in the place of its result.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr, requestConfig } = event.detail;
  if (xhr.status < 400 || !requestConfig.elt.matches("[data-run]")) return;
  event.detail.shouldSwap = true;
  event.detail.isError = false;
  event.detail.selectOverride = "main [role=alert]";
});

if (stream && window.EventSource) {
  const gone = () => location.assign("/sandboxes");
  follow(stream.dataset.stream, { begun, wrote, ended, changed: renewAll, gone }, missed);
}
