// What htmx does not: selects that send their form, a name for this window, the keys.
"use strict";

(() => {
  const named = sessionStorage.getItem("window");
  const name = named || crypto.randomUUID();
  sessionStorage.setItem("window", name);

  // Every form says from which window it comes.
  document.addEventListener("formdata", (event) => event.formData.set("window", name));

  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-submit]")) event.target.form.requestSubmit();
  });

  // Of two places that are clicked the last one counts, and a part that was asked for by a page
  // that was left meanwhile is not put into the next one. This script stands before htmx: else a
  // first answer could come before anybody looks at it. A place that was clicked while an edit was
  // under way is asked for again: it may show what was before.
  let clicked;
  document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
    if (ctx.request.headers["HX-Boosted"]) clicked = ctx;
  });
  document.addEventListener("htmx:after:request", (event) => {
    const { ctx } = event.detail;
    const { action, headers, method } = ctx.request;
    if (headers["HX-History-Restore-Request"]) return;
    if (headers["HX-Boosted"] && !ctx.text.includes('id="bench"')) {
      // The start, or an error: a page of another kind is shown whole.
      event.preventDefault();
      if (method === "GET") location.assign(action);
      else document.body.replaceChildren(...new DOMParser().parseFromString(ctx.text, "text/html").body.childNodes);
      return;
    }
    if (headers["HX-Boosted"] && method !== "GET") {
      if (clicked.request.method !== "GET") return;
      event.preventDefault();
      location.assign(clicked.request.action);
      return;
    }
    const from = new URL(headers["HX-Current-URL"]).pathname;
    const asks = ctx.sourceElement.isConnected && ctx.sourceElement.getAttribute("hx-get") === action;
    const belongs = headers["HX-Boosted"] ? ctx === clicked : asks && from === location.pathname;
    if (!belongs) event.preventDefault();
  });

  // A field and a slider of the same number.
  document.addEventListener("input", (event) => {
    const other = document.getElementById(event.target.dataset.mirror || "");
    if (other) other.value = event.target.value;
  });

  // A bracket that is drawn on the histogram is so many bars wide; the people alone move along.
  document.addEventListener("input", ({ target }) => {
    if (!target.matches("[data-bracket]")) return;
    target.form.elements.levels.value = "width";
    target.form.elements.steps.value = "";
    target.form.requestSubmit();
  });
  let drawn = null;
  const barAt = ({ clientX }, field) => {
    const { left, width } = document.querySelector(".large .histogram").getBoundingClientRect();
    return Math.floor((field.max * (clientX - left)) / width);
  };
  document.addEventListener("pointerdown", (event) => {
    const field = document.querySelector("[data-bracket]");
    drawn = field && event.target.closest(".large .histogram") ? barAt(event, field) : null;
  });
  document.addEventListener("pointermove", (event) => {
    const field = document.querySelector("[data-bracket]");
    if (drawn === null || !field) return;
    const bars = String(Math.min(field.max, Math.abs(barAt(event, field) - drawn) + 1));
    if (field.value === bars) return;
    field.value = bars;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
  document.addEventListener("pointerup", () => { drawn = null; });

  // Arrows go from dot to dot, in the order of the table.
  document.addEventListener("keydown", (event) => {
    const dot = event.target.closest?.("[data-dot]");
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!dot || !step) return;
    event.preventDefault();
    const dots = [...document.querySelectorAll("[data-dot]")];
    dots[(dots.indexOf(dot) + step + dots.length) % dots.length].focus();
  });

  document.addEventListener("submit", (event) => {
    if (event.submitter?.getAttribute("aria-disabled") === "true") {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }, true);

  // "/" goes to the filter; Ctrl-Z undoes unless somebody types.
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input, textarea, select");
    if (event.key === "/" && !typing) {
      const filter = document.querySelector("[data-filter]");
      if (filter) { event.preventDefault(); filter.focus(); }
    }
    if (event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey) && !typing) {
      event.preventDefault();
      document.getElementById(event.shiftKey ? "redo" : "undo")?.click();
    }
  });

  document.addEventListener("input", (event) => {
    if (!event.target.matches("[data-filter]")) return;
    const words = event.target.value.toLowerCase();
    for (const row of document.querySelectorAll(event.target.dataset.filter)) {
      row.hidden = !row.dataset.name.toLowerCase().includes(words);
    }
  });

  // A slider of log odds beside a field of a probability.
  document.addEventListener("input", (event) => {
    const field = document.getElementById(event.target.dataset?.odds || "");
    if (!field) return;
    const share = 1 / (1 + 10 ** -Number(event.target.value));
    field.value = String(Number(share.toPrecision(share > 0.99 ? 6 : 3)));
  });

  // A window that closes edits no more.
  addEventListener("pagehide", () => navigator.sendBeacon("/window", new URLSearchParams({ window: name, leave: "yes" })));

  // A sign of life; the answer says whether another window edits.
  async function alive() {
    const place = document.getElementById("window");
    const here = document.querySelector("nav [aria-current]")?.getAttribute("href")?.slice(1) || "data";
    try {
      const body = new URLSearchParams({ window: name, here });
      const answer = await fetch("/window", { method: "POST", body });
      if (answer.ok && place && !place.contains(document.activeElement)) {
        const text = (await answer.text()).trim();
        const fresh = new DOMParser().parseFromString(text, "text/html");
        place.replaceChildren(...fresh.body.childNodes);
        window.htmx?.process(place);
      }
    } catch {
      // The workbench has ended: the next click says so.
    }
    setTimeout(alive, 20000);
  }
  if (document.getElementById("window")) alive();
})();
