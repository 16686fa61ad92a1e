// What is typed, heard from the first moment of a page: this runs before its body is read, so that no key is lost to a
// script that comes later. Without it all can be done by the mouse, and by Tab and Enter.
(() => {
  "use strict";
  document.documentElement.classList.add("js");

  // An input method composes: its keys and half-made letters are no text yet. Whole syllables of Hangul are, and the
  // last one stays composed until another key is pressed, so these are searched for as they stand.
  document.addEventListener("input", (event) => {
    if (event.isComposing && !/^[\uac00-\ud7a3]+$/.test(event.data || "")) event.stopImmediatePropagation();
  }, true);
  document.addEventListener("compositionend", (event) => event.target.dispatchEvent(new Event("input", { bubbles: true })));

  // What was typed or chosen in the search form before htmx listens to it is searched for as soon as it does.
  let early = false, listens = false;
  for (const kind of ["input", "change"]) {
    document.addEventListener(kind, (event) => { early ||= !listens && !!event.target.closest(".find"); }, true);
  }
  document.addEventListener("htmx:afterProcessNode", (event) => {
    if (listens || event.target.id !== "q") return;
    listens = true;
    if (early) event.target.dispatchEvent(new Event("search"));
  });

  // The review queue by keys: j and k go from card to card, a letter presses what has it in data-key. What a key has
  // sent is not sent again while its answer is awaited; Escape, which ends the waiting, and the next page allow it.
  // On a Korean keyboard a key is another letter: its place on the board says which is meant.
  let sent = false;
  document.addEventListener("submit", () => { sent = true; });
  addEventListener("pageshow", () => { sent = false; });
  const keyOf = (event) => (/^[a-z]$/i.test(event.key) || !/^Key[A-Z]$/.test(event.code) ? event.key : event.code.slice(3)).toLowerCase();
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") sent = false;
    if (sent || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
    if (event.key === "/" || (event.code === "Slash" && !event.shiftKey)) { // the search field of this page
      const field = document.querySelector('[data-focus="/"]');
      if (!field) return;
      field.focus();
      field.select();
      event.preventDefault();
      return;
    }
    const key = keyOf(event), cards = [...document.querySelectorAll(".card")];
    if (event.repeat && key !== "j" && key !== "k") return; // a key held down decides nothing twice
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
