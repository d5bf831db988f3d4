// Enhancements: live updates, search as you type, keys, folds. The pages work without this script, too.
"use strict";

const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

// -- parts of pages: a keyed element is replaced when its version changes; without a version, it is a container

async function part(address) {
  const url = new URL(address, location.href);
  url.searchParams.set("part", "1");
  const answer = await fetch(url, { credentials: "same-origin", headers: { accept: "text/html" } }).catch(() => null);
  lost(!answer || answer.status === 401);
  if (!answer || answer.status === 401) throw new Error("the server has ended, or does not let this browser in any more");
  if (answer.status >= 500) throw new Error("the server cannot answer now");
  return new DOMParser().parseFromString(await answer.text(), "text/html").body;
}

function lost(is) {
  one("#lost").hidden = !is;
}

function patch(box, fresh) {
  const known = new Map(all(":scope > [data-key]", box).map((child) => [child.dataset.key, child]));
  let before = null;
  let changed = 0;
  for (const child of all(":scope > *", fresh)) {
    const old = known.get(child.dataset.key);
    known.delete(child.dataset.key);
    let shown = old;
    if (old && old.dataset.version === undefined) {
      changed += patch(old, child);
    } else if (!old || old.dataset.version !== child.dataset.version) {
      shown = document.adoptNode(child);
      if (old) keepFolds(old, shown);
      if (old && old.contains(document.activeElement)) {
        keepFocus(old, shown);
      } else if (old) {
        old.replaceWith(shown);
      }
      shown.classList.add("fresh");
      changed += 1;
    }
    const next = before ? before.nextElementSibling : box.firstElementChild;
    if (next !== shown) box.insertBefore(shown, next);
    before = shown;
  }
  for (const gone of known.values()) gone.remove();
  return changed;
}

function keepFolds(old, shown) {
  const fresh = all("details", shown);
  all("details", old).forEach((fold, place) => {
    if (fresh[place]) fresh[place].open = fold.open;
  });
}

function keepFocus(old, shown) {
  const used = document.activeElement;
  const href = used.getAttribute("href");
  const place = all(used.tagName, old).indexOf(used);
  old.replaceWith(shown);
  const alike = all(used.tagName, shown);
  const same = href ? alike.find((link) => link.getAttribute("href") === href) : alike[place];
  if (same) same.focus({ preventScroll: true });
}

// -- live -------------------------------------------------------------------------------------------

function isProblem(box) {
  return one(":scope > [data-key=problem]", box) !== null;
}

const AGAIN = [1000, 30_000]; // ms until a failed update is tried again: at first, and at most

function live(box) {
  const heard = one("#heard");
  let busy = false;
  let again = false;
  let pause = AGAIN[0];
  let retry = 0;
  const update = async () => {
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    clearTimeout(retry);
    try {
      const fresh = await part(location.href);
      if (isProblem(box) && !isProblem(fresh)) location.reload();
      else patch(box, fresh);
      pause = AGAIN[0];
    } catch {
      retry = setTimeout(update, pause);
      pause = Math.min(2 * pause, AGAIN[1]);
    }
    busy = false;
    if (again) {
      again = false;
      update();
    }
  };
  let source = null;
  let silence = 0;
  let number = document.body.dataset.liveNumber;
  const answered = () => {
    clearTimeout(silence);
    silence = 0;
  };
  const leave = () => {
    answered();
    if (source) source.close();
  };
  const listen = () => {
    leave();
    if (document.hidden) return; // a browser opens only six connections per server: hidden tabs must not hold one
    source = new EventSource(`/live?after=${number}`);
    source.onopen = () => {
      answered();
      lost(false);
    };
    source.onerror = () => {
      silence ||= setTimeout(lost, 1500, true); // streams also end regularly and reconnect at once
    };
    source.onmessage = (event) => {
      number = event.lastEventId;
      const { title } = JSON.parse(event.data);
      if (title) heard.textContent = `New: ${title}`;
      update();
    };
  };
  listen();
  if (box.dataset.live === "503") update(); // nothing may be told of its end
  addEventListener("visibilitychange", listen);
  addEventListener("pageshow", (event) => event.persisted && listen());
  addEventListener("pagehide", leave);
}

// -- search as you type -----------------------------------------------------------------------------

function typing(form, results) {
  const input = one("input[name=q]", form);
  let timer = 0;
  let last = input.value;
  let asked = 0;
  const ask = async () => {
    if (input.value === last) return;
    last = input.value;
    const url = new URL(form.action);
    for (const [name, value] of new FormData(form)) if (value) url.searchParams.set(name, value);
    const mine = ++asked;
    try {
      const fresh = await part(url);
      if (mine !== asked) return;
      results.replaceChildren(...fresh.children);
      one("#heard").textContent = one("#count").textContent;
      history.replaceState(null, "", url);
      document.title = `${input.value.trim() || "Search"} · mdmem`;
    } catch {
      // the button still searches
    }
  };
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, 120);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" && !event.isComposing) {
      const first = one("a.hit", results);
      if (first) {
        event.preventDefault();
        first.focus();
      }
    }
  });
  results.addEventListener("keydown", (event) => {
    const hits = all("a.hit", results);
    const place = hits.indexOf(document.activeElement);
    if (place < 0) return;
    if (event.key === "ArrowDown" && hits[place + 1]) hits[place + 1].focus();
    else if (event.key === "ArrowUp") (hits[place - 1] || input).focus();
    else if (event.key === "Escape") input.focus();
    else return;
    event.preventDefault();
  });
  const first = location.hash === "#asked" && one("a.hit", results); // asked in the box of another page
  if (first || !input.value) (first || input).focus();
}

// -- unsaved text: do not lose it when the page is left or the server has ended ---------------------------

const TWICE = 3000; // ms: later, as after a stopped load, a form is sent again

function isSent(form) {
  return performance.now() - form.dataset.sent < TWICE;
}

function keepText(form) {
  const text = one("textarea", form);
  addEventListener("beforeunload", (event) => {
    const typed = all("input:not([type=hidden]), textarea", form).some((field) => field.value !== field.defaultValue);
    if (!isSent(form) && (typed || form.dataset.unsaved)) event.preventDefault();
  });
  text.addEventListener("input", () => text.setCustomValidity(""));
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.repeat) form.requestSubmit();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const bytes = new TextEncoder().encode(text.value).length;
    const most = Number(form.dataset.most);
    if (bytes > most) text.setCustomValidity(`A form holds at most ${most >> 10} KiB; this is ${bytes >> 10} KiB.`);
    if (!form.reportValidity()) return;
    try {
      await part("/help");
    } catch {
      return;
    }
    if (isSent(form)) return; // a double click
    form.dataset.sent = performance.now();
    form.submit();
  });
}

// -- after a form: restore scroll position and focus -------------------------------------------------

const CONTROLS = "main :is(button, input, select, textarea, summary):not([type=hidden], .message *)";

addEventListener("submit", (event) => {
  if (event.target.method !== "post") return;
  if (isSent(event.target)) return event.preventDefault(); // a double click
  if (!event.defaultPrevented) event.target.dataset.sent = performance.now();
  const used = event.submitter || document.activeElement;
  const place = { page: location.pathname + location.search, top: scrollY, id: used.id, at: all(CONTROLS).indexOf(used) };
  sessionStorage.setItem("place", JSON.stringify(place));
});

addEventListener("pageshow", (event) => {
  if (event.persisted) for (const form of all("form[data-sent]")) delete form.dataset.sent;
});

function comeBack() {
  const kept = sessionStorage.getItem("place");
  sessionStorage.removeItem("place");
  const place = kept && JSON.parse(kept);
  if (!place || place.page !== location.pathname + location.search) return;
  scrollTo(0, place.top);
  const used = (place.id && document.getElementById(place.id)) || all(CONTROLS)[place.at];
  if (used) used.focus({ preventScroll: true });
}

// -- keys, folds, theme, copy -----------------------------------------------------------------------

function isTyping(target) {
  return target.closest("input, textarea, select, [contenteditable]") !== null;
}

const PLACES = { t: "/", l: "/timeline", o: "/open", r: "/review", p: "/projects", s: "/search", h: "/health" };
let leading = 0;

addEventListener("keydown", (event) => {
  if (document.documentElement.dataset.keys || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (event.key === "/") {
    event.preventDefault();
    const box = one("#words") || one("#quick");
    box.focus();
    box.select();
  } else if (event.key === "g") {
    leading = Date.now();
  } else if (Date.now() - leading < 1200 && PLACES[event.key]) {
    location.assign(PLACES[event.key]);
  }
});

document.addEventListener(
  "toggle",
  async (event) => {
    const fold = event.target;
    if (!fold.open || !fold.dataset || !fold.dataset.body || fold.dataset.read) return;
    fold.dataset.read = "1";
    try {
      const fresh = await part(fold.dataset.body);
      for (const child of all(":scope > :not(summary)", fold)) child.remove();
      fold.append(...fresh.children);
    } catch {
      delete fold.dataset.read;
    }
  },
  true,
);

addEventListener("click", (event) => {
  const copy = event.target.closest("[data-copy]");
  if (!copy) return;
  const held = copy === copier ? [...copier.parentNode.childNodes].filter((node) => node !== copier) : [one(`#${copy.dataset.copy}`)];
  const text = held.map((node) => node.textContent).join("").replace(OBEYED, "");
  navigator.clipboard.writeText(text).then(() => {
    copy.textContent = one("#heard").textContent = "Copied";
  });
});

// What a terminal would obey, where it is pasted: controls and invisible characters, except joiners.
const OBEYED = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}]/gu;

const copier = document.createElement("button");
copier.type = "button";
copier.className = "copier";
copier.dataset.copy = "";

function offerCopy(event) {
  const code = event.target.closest && event.target.closest("main pre");
  if (!code || copier.parentNode === code) return;
  copier.textContent = "Copy";
  code.append(copier);
}

addEventListener("mouseover", offerCopy);
addEventListener("focusin", offerCopy);

function remember(name, value) {
  document.cookie = `${name}=${value}; path=/; max-age=${value ? 31536000 : 0}; samesite=strict`;
}

function theme(choice) {
  const root = document.documentElement;
  choice.hidden = false;
  choice.value = root.dataset.theme || "";
  choice.addEventListener("change", () => {
    remember("mdmem-theme", choice.value);
    if (choice.value) root.dataset.theme = choice.value;
    else delete root.dataset.theme;
  });
}

function keys(choice) {
  const root = document.documentElement;
  choice.closest("[hidden]").hidden = false;
  choice.checked = !root.dataset.keys;
  choice.addEventListener("change", () => {
    remember("mdmem-keys", choice.checked ? "" : "off");
    if (choice.checked) delete root.dataset.keys;
    else root.dataset.keys = "off";
  });
}

addEventListener("DOMContentLoaded", () => {
  const box = one("#live");
  if (box) live(box);
  const form = one("#ask");
  if (form) typing(form, one("#results"));
  const editor = one("form.editor");
  if (editor) keepText(editor);
  theme(one("#theme"));
  const choice = one("#single-keys");
  if (choice) keys(choice);
  const here = one(".side nav [aria-current]");
  if (here) here.closest("nav").scrollLeft = here.offsetLeft - 2 * here.offsetWidth;
  comeBack();
});
