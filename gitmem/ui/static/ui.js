// What a page does beyond its HTML: times in the reader's zone, the line that says what is new. Every page can be read without it.
(() => {
  "use strict";
  document.documentElement.classList.add("js");

  const written = (root) => {
    for (const time of root.querySelectorAll("time[datetime*='T']")) {
      const when = new Date(time.dateTime);
      if (isNaN(when)) continue;
      const two = (n) => String(n).padStart(2, "0");
      time.textContent = `${when.getFullYear()}-${two(when.getMonth() + 1)}-${two(when.getDate())} ${two(when.getHours())}:${two(when.getMinutes())}`;
    }
  };

  written(document);
  document.addEventListener("htmx:afterSwap", (event) => written(event.target));

  // What was just done is said once: loaded again, kept as a bookmark or sent to somebody, the address is the page's own.
  const here = new URL(location.href);
  const passing = ["done", "merged", "n"].filter((name) => here.searchParams.has(name));
  if (passing.length) {
    for (const name of passing) here.searchParams.delete(name);
    history.replaceState(history.state, "", here);
  }

  // An input method composes: its keys and half-made letters are no text yet. Whole syllables of Hangul are, and the
  // last one stays composed until another key is pressed, so these are searched for as they stand.
  document.addEventListener("input", (event) => {
    if (event.isComposing && !/^[\uac00-\ud7a3]+$/.test(event.data || "")) event.stopImmediatePropagation();
  }, true);
  document.addEventListener("compositionend", (event) => event.target.dispatchEvent(new Event("input", { bubbles: true })));

  // What changed is said in a line at the foot of the page; the page itself stays as it is until the reader loads it.
  const live = document.body.dataset.live;
  if (live && window.EventSource) {
    const bar = document.getElementById("live");
    const told = new EventSource(live);
    told.onmessage = (event) => {
      bar.querySelector("span").textContent = JSON.parse(event.data).words;
      bar.hidden = false;
    };
    bar.querySelector("a").addEventListener("click", (event) => {
      if (event.currentTarget.getAttribute("href")) return; // the answer to a form: a reload would send it again
      event.preventDefault();
      location.reload();
    });
    window.addEventListener("pagehide", () => told.close());
  }

  // The review queue by keys: j and k go from card to card, a letter presses what has it in data-key.
  // On a Korean keyboard a key is another letter: its place on the board says which is meant.
  const keyOf = (event) => (/^[a-z]$/i.test(event.key) || !/^Key[A-Z]$/.test(event.code) ? event.key : event.code.slice(3).toLowerCase());
  const cards = [...document.querySelectorAll(".card")];
  document.addEventListener("keydown", (event) => {
    if (!cards.length || event.isComposing || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
    const key = keyOf(event);
    const at = cards.findIndex((card) => card.contains(document.activeElement));
    if (key === "j" || key === "k") {
      const next = at < 0 ? 0 : at + (key === "j" ? 1 : -1);
      cards[Math.max(0, Math.min(cards.length - 1, next))].focus();
    } else if (at >= 0) {
      const pressed = cards[at].querySelector(`[data-key="${CSS.escape(key)}"]`);
      if (!pressed) return;
      if (pressed.matches("summary")) {
        pressed.parentElement.open = true;
        pressed.parentElement.querySelector("textarea, input:not([type=hidden])").focus();
      } else pressed.click();
    } else return;
    event.preventDefault();
  });
})();
