// What a page does beyond its HTML: times in the reader's zone, the line that says what is new. Every page can be read without it.
(() => {
  "use strict";

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
})();
