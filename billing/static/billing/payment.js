// Looks until a payment is confirmed, and then shows the page as it is now. Without scripts the page reloads itself.
"use strict";

(() => {
  const FIRST_MS = 2000;
  const LONGEST_MS = 15000;
  const SLOWER = 1.2;

  const shown = document.getElementById("payment");

  const look = async (pause) => {
    try {
      const answer = await fetch(location.href);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const now = page.getElementById("payment");
      if (answer.ok && !now) {
        location.reload();
        return;
      }
      if (answer.ok && !("awaited" in now.dataset)) {
        shown.replaceChildren(...now.childNodes);
        return;
      }
    } catch {
      // The network is away; the next look may find it again.
    }
    later(Math.min(pause * SLOWER, LONGEST_MS));
  };

  const later = (pause) => setTimeout(look, pause, pause);

  if ("awaited" in shown.dataset) later(FIRST_MS);
})();
