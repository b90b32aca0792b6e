// The progress is fetched again every ten seconds; without this file, load the page again.
"use strict";

(() => {
  const place = document.getElementById("progress");
  if (!place) return;
  let waits = 10000;

  async function refresh() {
    try {
      const busy = place.contains(document.activeElement) || document.hidden;
      if (!busy) {
        const answer = await fetch(place.dataset.url, { credentials: "same-origin" });
        if (answer.redirected || !answer.ok) return; // logged out, or closed: leave it as it is
        const text = await answer.text();
        const fresh = new DOMParser().parseFromString(text, "text/html");
        place.replaceChildren(...[...fresh.body.childNodes].map((node) => document.adoptNode(node)));
      }
      waits = 10000;
    } catch {
      waits = Math.min(waits * 2, 120000); // no connection
    }
    setTimeout(refresh, waits);
  }

  setTimeout(refresh, waits);
})();
