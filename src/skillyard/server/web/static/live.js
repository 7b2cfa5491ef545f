"use strict";
// What changes elsewhere shows by itself: parts of a page are asked for again when there is news of them (data-news), or every
// so many seconds (data-every) where nothing tells of it.

// An answer to a form that was sent elsewhere is found again where its page is.
const { address } = document.documentElement.dataset;
if (address) history.replaceState(null, "", address);

const live = document.querySelector(".live");

function showLive(state) {
  live.hidden = false;
  live.dataset.live = state;
  live.querySelector("[role=status]").textContent = live.dataset[state];
}

// Says something at the foot of the window, unless it is said already.
function tell(place, text, words = "") {
  const shown = document.getElementById(place);
  const told = document.getElementById(`${text}-text`).content.cloneNode(true);
  if (words) told.firstElementChild.textContent = words;
  if (shown.textContent !== told.textContent) shown.replaceChildren(told);
}

// Whoever is signed out is led to the door, wherever they wanted to go.
const isDoor = (address) => new URL(address).pathname === "/sign-in";

// A stream of events for as long as the page is looked at: a browser opens but a few connections to one server, and pages in the
// background would keep those of the one in front. Whenever it is opened again, something may have been missed.
function follow(address, handlers, missed) {
  let source = null;
  let retry = 0;
  let isLate = document.hidden;
  const close = () => {
    clearTimeout(retry);
    source?.close();
    isLate = true;
  };
  const open = () => {
    if (source) close();
    if (document.hidden) return;
    showLive("wait");
    source = new EventSource(address);
    source.onopen = () => {
      showLive("on");
      if (isLate) missed();
      isLate = true;
    };
    source.onerror = () => {
      isLate = true;
      const isOver = source.readyState === EventSource.CLOSED;
      showLive(isOver ? "off" : "wait");
      // A browser gives up where the answer is an error, such as that of a proxy whose server starts anew.
      if (isOver) retry = setTimeout(open, 10_000);
    };
    for (const [name, take] of Object.entries(handlers)) {
      source.addEventListener(name, (event) => take(JSON.parse(event.data)));
    }
  };
  addEventListener("pagehide", close);
  addEventListener("pageshow", (event) => { if (event.persisted) open(); });
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  open();
}

// A part as the server wrote it, without what is another each time.
function written(part) {
  return part.outerHTML.replace(/(name="form_token" value=")[^"]*/g, "$1").replace(/(<time [^>]*>)[^<]*/g, "$1");
}

const everyPart = () => document.querySelectorAll("[data-news], [data-every], [data-part]");
const known = new WeakMap();
for (const part of everyPart()) known.set(part, written(part));

function isEntered(control) {
  if (control.type === "checkbox" || control.type === "radio") return control.checked !== control.defaultChecked;
  if (control.tagName !== "SELECT") return control.value !== control.defaultValue;
  return control.selectedIndex !== Math.max(0, [...control.options].findIndex((option) => option.defaultSelected));
}

// Whether somebody is at something there that would be lost.
function isInUse(part) {
  return part.querySelector(":focus-visible") || [...part.querySelectorAll("input, select, textarea")].some(isEntered);
}

// What is to be asked for again once nobody uses it any more.
const held = new Set();

function put(part, fresh) {
  held.delete(part.id);
  const text = written(fresh);
  if (text === known.get(part)) return;
  if ("tell" in part.dataset || isInUse(part)) {
    held.add(part.id);
    return;
  }
  keepOpen(part, fresh);
  part.replaceWith(fresh);
  known.set(fresh, text);
  htmx.process(fresh);
  fresh.dispatchEvent(new Event("renewed", { bubbles: true }));
}

// What the reader opened stays open: the second of those that are called the same is the second again.
function keepOpen(part, fresh) {
  const all = (root) => Map.groupBy(root.querySelectorAll("details"), (each) => each.firstElementChild?.textContent);
  const before = all(part);
  for (const [name, list] of all(fresh)) {
    list.forEach((each, at) => { each.open = before.get(name)?.[at]?.open ?? each.open; });
  }
}

function showHeld() {
  if (held.size) tell("changed", "changed");
  else document.getElementById("changed").replaceChildren();
}

const asked = new Set();
let isAsking = false;

async function renew(parts) {
  for (const part of parts) asked.add(part.id);
  if (isAsking) return;
  isAsking = true;
  try {
    while (asked.size) {
      await new Promise((resolve) => { setTimeout(resolve, 150); });  // what comes at once is asked for at once
      const now = [...asked].map((id) => document.getElementById(id)).filter(Boolean);
      asked.clear();
      const addresses = Map.groupBy(now, (part) => part.dataset.from || location.pathname + location.search);
      for (const [address, list] of addresses) await renewFrom(address, list);
      showHeld();
    }
  } finally {
    isAsking = false;
  }
}

async function renewFrom(address, parts) {
  const answer = await fetch(address, { headers: { Accept: "text/html" } }).catch(() => null);
  if (!answer) return;  // whoever looks on sees that it is not live
  if (isDoor(answer.url)) tell("failed", "signed-out");
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of parts.filter((each) => each.isConnected)) {
    const fresh = page.getElementById(part.id);
    if (answer.ok && fresh) put(part, document.adoptNode(fresh));
    else if (answer.status === 404) held.add(part.id);
  }
}

document.addEventListener("focusout", () => {
  const parts = [...held].map((id) => document.getElementById(id));
  renew(parts.filter((part) => part && !("tell" in part.dataset)));
});

let seconds = 0;
setInterval(() => {
  seconds += 1;
  if (document.hidden) return;
  renew([...document.querySelectorAll("[data-every]")].filter((part) => seconds % part.dataset.every === 0));
}, 1000);

// News is of a kind, or of one of them: data-news="proposal skill:sk-1".
function takeNews({ subject }) {
  const names = ["*", subject.kind, `${subject.kind}:${subject.id}`];
  const parts = [...document.querySelectorAll("[data-news]")];
  renew(parts.filter((part) => part.dataset.news.split(" ").some((wanted) => names.includes(wanted))));
}

if (document.querySelector("[data-news]") && window.EventSource) {
  follow("/api/v1/events", { change: takeNews, removed: takeNews }, () => renew(everyPart()));
}
