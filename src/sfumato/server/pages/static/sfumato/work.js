// One request per click: the pair and the meters come back drawn anew. Nothing is stored in the
// browser, and without this file every button works as a plain form.
"use strict";

(() => {
  const pile = document.querySelector(".pile");
  const said = document.getElementById("said");
  const standing = document.getElementById("standing");
  if (!pile) return;
  const touch = window.matchMedia("(hover: none)");
  let last = null; // the pair that was decided last
  let armed = null; // on touch screens: the cell whose cost is seen
  let queue = Promise.resolve();

  const pairs = () => [...pile.querySelectorAll(".pair")];
  const byToken = (token) => pairs().find((pair) => pair.dataset.token === token);
  const covers = (pair) => [...pair.querySelectorAll(".cover")];
  const undecided = (pair) => pair.classList.contains("undecided");

  function say(text, problem = false) {
    said.textContent = text;
    said.classList.toggle("problem", problem);
  }

  // ------------------------------------------------------------------------------- requests
  async function ask(url, body) {
    const options = { headers: { Accept: "application/json" }, credentials: "same-origin" };
    if (body) Object.assign(options, { method: "POST", body });
    const answer = await fetch(url, options);
    return answer.json();
  }

  function replace(pair, html) {
    const typed = pair.querySelector("textarea");
    const kept = typed && typed.value !== typed.defaultValue ? typed.value : null;
    const focus = remembered(pair);
    const parsed = new DOMParser().parseFromString(html, "text/html");
    const fresh = document.adoptNode(parsed.querySelector(".pair"));
    pair.replaceWith(fresh);
    if (kept !== null) fresh.querySelector("textarea").value = kept;
    if (focus) restore(fresh, focus);
    return fresh;
  }

  // Where the focus was in a pair, by what stands there, so that it is there again afterwards.
  function remembered(pair) {
    const at = document.activeElement;
    if (!pair.contains(at)) return null;
    const column = at.closest(".column");
    if (column) return { column: [...column.parentNode.children].indexOf(column) };
    if (at.dataset.key) return { key: at.dataset.key };
    return {};
  }

  function restore(pair, focus) {
    const first = focus.key && pair.querySelector(`[data-key="${focus.key}"]`);
    const next = first || nearest(pair, focus.column || 0);
    if (next) next.focus({ preventScroll: true });
  }

  // The cell nearest to a column that can be opened, else a button.
  function nearest(pair, column) {
    const cells = [...pair.querySelectorAll(".column")];
    const order = cells.slice(column).concat(cells.slice(0, column).reverse());
    const cover = order.map((cell) => cell.querySelector(".cover")).find(Boolean);
    return cover || pair.querySelector(".choice") || pair.querySelector("button");
  }

  function applied(pair, answer, url = "") {
    standing.innerHTML = answer.standing;
    const fresh = replace(pair, answer.pair);
    for (const [token, html] of Object.entries(answer.others)) {
      const other = byToken(token); // it shows the same record, and its costs have changed
      if (other && other.getAttribute("aria-busy") !== "true") replace(other, html);
    }
    const name = fresh.getAttribute("aria-label");
    const spent = standing.querySelector(".previews .reading").textContent;
    const done = {
      open: `opened. KAPR spent: ${spent}`, note: "the note is saved",
      flag: "flagged", unflag: "the flag is removed",
    }[url.split("/").pop()] || answer.said;
    say(answer.refused ? `${name}: not opened, ${answer.refused}.` : `${name}: ${done}.`,
      Boolean(answer.refused));
    return fresh;
  }

  // A lost connection: ask how the pair stands now; what was done, was done once.
  async function lost(token, base) {
    for (const wait of [300, 1500]) {
      await new Promise((done) => setTimeout(done, wait));
      try {
        const answer = await ask(base);
        const pair = byToken(token);
        if (answer.ok && pair) {
          applied(pair, answer);
          say("The connection was lost for a moment. This is how the pair stands now.");
          return;
        }
        if (!answer.ok) return say(`${answer.error}. ${answer.reason}`, true);
      } catch { /* still no connection */ }
    }
    say("The server cannot be reached. What was answered before is saved. Try again later.", true);
  }

  async function submit(pair, button) {
    const token = pair.dataset.token;
    const url = button.getAttribute("formaction") || pair.getAttribute("action");
    const base = url.slice(0, url.lastIndexOf("/"));
    const data = new URLSearchParams();
    data.set("csrfmiddlewaretoken", pair.elements.csrfmiddlewaretoken.value);
    if (button.name) data.set(button.name, button.value);
    if (url.endsWith("/note")) {
      const note = pair.querySelector("textarea");
      data.set("note", note.value);
    }
    let answer;
    try {
      answer = await ask(url, data);
    } catch {
      await lost(token, base);
      const still = byToken(token);
      if (still) still.removeAttribute("aria-busy");
      return null;
    }
    if (!answer.ok) {
      pair.removeAttribute("aria-busy");
      say(`${answer.error}. ${answer.reason}`, true);
      return null;
    }
    if (url.endsWith("/note")) pair.querySelector("textarea").defaultValue = data.get("note");
    const fresh = applied(pair, answer, url);
    if (url.endsWith("/decide") || url.endsWith("/skip")) last = token;
    return fresh;
  }

  function arm(cell) {
    if (armed) armed.classList.remove("armed");
    if (cell) cell.classList.add("armed");
    armed = cell;
    preview(cell && cell.querySelector("[data-cost]"));
  }

  pile.addEventListener("submit", (event) => {
    const button = event.submitter;
    const pair = event.target;
    if (!button) return;
    event.preventDefault();
    if (pair.getAttribute("aria-busy") === "true") return; // a double click
    if (button.getAttribute("aria-disabled") === "true") {
      const costs = button.closest(".column, .group");
      return say(`${pair.getAttribute("aria-label")}: refused. ${costs ? costs.querySelector("p:not(.meaning), .amount").textContent : ""}`, true);
    }
    const cell = button.classList.contains("cover") ? button.closest(".column") : null;
    const first = touch.matches && cell && cell !== armed;
    arm(first ? cell : null); // on touch screens the first touch shows the cost, the second opens
    if (first) return;
    pair.setAttribute("aria-busy", "true");
    const byKey = button.dataset.byKey === "1";
    queue = queue.then(() => submit(pair, button)).then((fresh) => {
      if (byKey && fresh && !undecided(fresh)) onward(fresh);
    }).catch(() => say("This did not work. Load the page again.", true));
  });

  // --------------------------------------------------------------------- preview on the meter
  function preview(button) {
    const meter = standing.querySelector(".previews");
    const rect = meter && meter.querySelector(".preview");
    if (!rect) return;
    const svg = rect.parentNode;
    const top = Number(svg.dataset.top), filled = Number(svg.dataset.filled);
    const cost = button ? Number(button.dataset.cost) : 0;
    const width = cost > 0 ? Math.max(4, (1000 * cost) / top) : 0;
    const limit = svg.querySelector(".limit");
    rect.setAttribute("width", String(Math.min(width, 1000 - filled)));
    rect.classList.toggle("over", Boolean(limit) && filled + width > Number(limit.getAttribute("x")));
  }
  const priced = (target) => {
    const cell = target.closest && target.closest("[data-cost]");
    if (cell) return cell;
    const column = target.closest && target.closest(".column");
    return column ? column.querySelector("[data-cost]") : null;
  };
  pile.addEventListener("pointerover", (event) => preview(priced(event.target)));
  pile.addEventListener("pointerleave", () => preview(null));
  pile.addEventListener("focusin", (event) => preview(priced(event.target)));
  pile.addEventListener("focusout", () => preview(null));

  // --------------------------------------------------------------------------------- keyboard
  // Costs show where the focus is while keys are used, not where a click has left it.
  document.addEventListener("pointerdown", () => pile.classList.add("pointing"));
  document.addEventListener("keydown", () => pile.classList.remove("pointing"), true);

  function current() {
    const at = document.activeElement && document.activeElement.closest(".pair");
    return at || pairs().find(undecided) || pairs()[0];
  }
  function go(pair, column = 0) {
    if (!pair) return;
    const target = nearest(pair, column);
    if (target) target.focus({ preventScroll: true });
    pair.scrollIntoView({ block: "nearest" });
  }
  function onward(from) {
    const all = pairs();
    const next = all.slice(all.indexOf(from) + 1).find(undecided) || all.find(undecided);
    if (next) return go(next);
    from.querySelector(".choice, button").focus();
    say(pile.dataset.next ? "All pairs of this page are done. n goes to the next page." : "All pairs are done.");
  }
  function step(by) {
    const all = pairs();
    const at = document.activeElement.closest(".pair");
    const place = at ? all.indexOf(at) + by : all.indexOf(current());
    if (place >= all.length && pile.dataset.next) window.location.assign(pile.dataset.next);
    else go(all[Math.max(0, Math.min(place, all.length - 1))]);
  }
  function sideways(by) {
    const pair = current();
    const cells = covers(pair);
    const place = cells.indexOf(document.activeElement.closest(".column")?.querySelector(".cover"));
    const next = cells[place < 0 ? 0 : Math.max(0, Math.min(cells.length - 1, place + by))];
    if (next) next.focus();
  }
  function upDown(by) {
    const all = pairs();
    const pair = current();
    const column = document.activeElement.closest(".column");
    const place = column ? [...column.parentNode.children].indexOf(column) : 0;
    go(all[all.indexOf(pair) + by] || pair, place);
  }
  function press(pair, key) {
    const button = pair && pair.querySelector(`[data-key="${key}"]`);
    if (!button || pair.getAttribute("aria-busy") === "true") return;
    if (/[1-6s]/.test(key)) button.dataset.byKey = "1";
    pair.requestSubmit(button);
  }
  function undo() {
    const pair = current();
    const target = pair && !undecided(pair) ? pair : byToken(last);
    if (target) press(target, "u");
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("textarea, input, select")) return;
    if (event.key === "Escape") {
      arm(null);
      return document.activeElement.closest(".pair") && document.activeElement.blur();
    }
    const arrows = {
      ArrowLeft: () => sideways(-1), ArrowRight: () => sideways(1),
      ArrowUp: () => upDown(-1), ArrowDown: () => upDown(1),
    };
    if (arrows[event.key] && event.target.closest(".pair")) {
      event.preventDefault();
      return arrows[event.key]();
    }
    if (!document.getElementById("keys").checked) return;
    const letters = {
      n: () => step(1), p: () => step(-1), u: undo,
      s: () => press(current(), "s"), f: () => press(current(), "f"),
      "?": () => {
        const help = document.getElementById("help");
        help.open = !help.open;
        if (help.open) help.querySelector("summary").focus();
      },
    };
    if (/^[1-6]$/.test(event.key)) letters[event.key] = () => press(current(), event.key);
    if (!letters[event.key]) return;
    event.preventDefault();
    letters[event.key]();
  });

  // Back shows the page as it was; what holds is asked anew.
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) window.location.reload();
  });
})();
