// What is done on the page shows at once and waits in a queue for its turn to be sent: one request
// at a time, in order, each with the pair that it was done on. What cannot be sent stays in the
// queue, and is shown. Nothing is stored in the browser, and without this file every button works
// as a plain form.
"use strict";

(() => {
  const pile = document.querySelector(".pile");
  const said = document.getElementById("said");
  const standing = document.getElementById("standing");
  const unsent = document.getElementById("unsent");
  const steps = document.getElementById("steps");
  if (!pile) return;
  const words = JSON.parse(pile.dataset.words); // what is said, in the language of the page
  const touch = window.matchMedia("(hover: none)");
  const PATIENCE = 30000; // milliseconds after which an answer is not waited for any longer
  // Every action may be sent twice: the second changes nothing. A database that restarts is waited for.
  const AGAIN_AFTER = { 0: [300, 1500], 503: [300, 1500, 3000, 6000, 12000] };
  const REFUSALS = [400, 403, 404, 409, 413]; // the same request would be refused again
  const queue = []; // what was done and is not saved yet
  const served = new Map(); // by token, a pair as the server drew it, where more was done since
  let csrf = pile.querySelector("[name=csrfmiddlewaretoken]").value;
  let sending = false;
  let fetching = false; // whether the next pair is on its way
  let stopped = null; // why nothing is sent any more, until it is tried again
  let leaving = ""; // where to go once all is saved
  let last = null; // the pair that was decided last
  let armed = null; // on touch screens: the cell whose cost is seen

  const pairs = () => [...pile.querySelectorAll(".pair")];
  const byToken = (token) => pairs().find((pair) => pair.dataset.token === token);
  const covers = (pair) => [...pair.querySelectorAll(".cover")];
  const undecided = (pair) => pair.classList.contains("undecided");
  const nameOf = (pair) => pair.getAttribute("aria-label");
  const parsed = (html) => document.adoptNode(
    new DOMParser().parseFromString(html, "text/html").querySelector(".pair"));

  function say(text, problem = false) {
    said.textContent = text;
    said.classList.toggle("problem", problem);
  }

  // ------------------------------------------------------------------------ drawing a pair
  // A pair as the server drew it, with what was done on it since.
  function replace(pair, html) {
    const typed = pair.querySelector("textarea"); // a page without notes has none
    const kept = typed && typed.value !== typed.defaultValue ? typed.value : null;
    const focus = remembered(pair);
    const fresh = parsed(html);
    fresh.classList.toggle("now", pair.matches(".now"));
    pair.replaceWith(fresh);
    if (kept !== null) fresh.querySelector("textarea").value = kept;
    if (typed) fresh.querySelector(".note").open = pair.querySelector(".note").open;
    served.delete(fresh.dataset.token);
    queue.filter((each) => each.token === fresh.dataset.token).forEach((each) => draw(fresh, each));
    if (focus) restore(fresh, focus);
    return fresh;
  }

  function draw(pair, done) {
    if (!served.has(done.token)) served.set(done.token, pair.outerHTML);
    pair.classList.add("unsaved");
    if (done.state) {
      pair.classList.remove("decided", "skipped", "undecided", "follows");
      pair.classList.add(done.state);
      for (const choice of pair.querySelectorAll(".choice")) {
        choice.setAttribute("aria-pressed", String(choice.value === done.data.answer));
      }
      pair.dataset.now = done.words;
    }
    const now = pair.dataset.now || pair.querySelector(".state").textContent.trim();
    pair.dataset.now = now;
    pair.querySelector(".state").textContent = `${now}, ${done.late ? words.notSaved : words.saving}`;
    pair.querySelector("h2").textContent = `${nameOf(pair)}: ${now}, ${words.notSavedYet}`;
  }

  // Where the focus was in a pair, by what stands there, so that it is there again afterwards.
  function remembered(pair) {
    const at = document.activeElement;
    if (!pair.contains(at)) return null;
    if (at.matches("textarea")) return { from: at.selectionStart, to: at.selectionEnd };
    const column = at.closest(".column");
    if (column) return { column: [...column.parentNode.children].indexOf(column) };
    if (at.dataset.key) return { key: at.dataset.key };
    return {};
  }

  function restore(pair, focus) {
    if ("from" in focus) {
      const note = pair.querySelector("textarea");
      note.focus({ preventScroll: true });
      return note.setSelectionRange(focus.from, focus.to);
    }
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

  // ----------------------------------------------------------------------------- the queue
  function act(pair, button, byKey = false) {
    if (button.getAttribute("aria-disabled") === "true") {
      const costs = button.closest(".column, .group");
      return say(`${nameOf(pair)}: ${words.refused}. ${costs ? costs.querySelector("p:not(.meaning), .amount").innerText : ""}`, true);
    }
    const cell = button.classList.contains("cover") ? button.closest(".column") : null;
    const first = touch.matches && cell && cell !== armed;
    arm(first ? cell : null); // on touch screens the first touch shows the cost, the second opens
    if (first) return;
    const verb = (button.getAttribute("formaction") || pair.getAttribute("action")).split("/").pop();
    const data = button.name ? { [button.name]: button.value } : {};
    if (verb === "note") data.note = pair.querySelector("textarea").value;
    const done = (button.classList.contains("choice") ? button.querySelector(".hidden") : button)
      .innerText.replace(/\s+/g, " ").trim();
    if (leaving) return say(words.leaving, true);
    enqueue(pair, verb, data, done);
    if (byKey && /decide|skip/.test(verb)) onward(pair);
  }

  function enqueue(pair, verb, data, pressed) {
    const { token } = pair.dataset;
    const action = pair.getAttribute("action");
    const base = action.slice(0, action.lastIndexOf("/"));
    const state = { decide: "decided", skip: "skipped", withdraw: "undecided" }[verb];
    const said = { skip: words.skipped, withdraw: words.undecided }[verb] || pressed;
    const before = queue.filter((each) => each.token === token).pop();
    const again = before && before.verb === verb && JSON.stringify(before.data) === JSON.stringify(data);
    if (again) return; // a double click
    const done = { token, base, verb, data, state, name: nameOf(pair), words: said, refused: "", late: false };
    queue.push(done);
    if (/decide|skip/.test(verb)) last = token;
    draw(pair, done);
    if (stopped) tell();
    else start();
  }

  // What comes next: behind something that was refused, the same pair's has to wait.
  function next() {
    const waits = new Set(queue.filter((each) => each.refused).map((each) => each.token));
    return queue.find((each) => !waits.has(each.token));
  }

  const start = () => send().catch(() => say(words.noPage, true));
  async function send() {
    if (sending) return;
    sending = true;
    stopped = null;
    tell();
    try {
      let lost = 0;
      for (let done = next(); done && !stopped; done = next()) {
        const answer = await ask(done);
        const waits = AGAIN_AFTER[answer.status] || [];
        if (answer.ok) {
          queue.splice(queue.indexOf(done), 1);
          applied(done, answer);
          lost = 0;
        } else if (lost < waits.length) {
          await new Promise((later) => setTimeout(later, waits[lost++]));
        } else if (REFUSALS.includes(answer.status)) {
          done.refused = told(answer);
        } else {
          stopped = answer;
        }
        tell();
      }
    } finally {
      sending = false;
      tell();
    }
    const to = leaving;
    leaving = "";
    if (to) leave(to);
  }

  const told = (answer) => `${answer.error}.${answer.reason ? ` ${answer.reason}` : ""}`;

  async function ask(done) {
    const body = () => new URLSearchParams({ ...done.data, csrfmiddlewaretoken: csrf });
    const answer = await request(`${done.base}/${done.verb}`, body());
    if (answer.status !== 403) return answer;
    const now = await request(done.base); // who has logged in again, has another token
    if (!now.ok) return now;
    csrf = parsed(now.pair).elements.csrfmiddlewaretoken.value;
    return request(`${done.base}/${done.verb}`, body());
  }

  async function request(url, body) {
    const options = { headers: { Accept: "application/json" }, credentials: "same-origin" };
    if (body) Object.assign(options, { method: "POST", body });
    try {
      const answer = await fetch(url, { ...options, signal: AbortSignal.timeout(PATIENCE) });
      const type = answer.headers.get("Content-Type") || "";
      if (type.startsWith("application/json")) return await answer.json();
      if (answer.ok) return { status: 401, error: words.loggedOut }; // a page to log in
      return { status: answer.status, error: words.noAnswer };
    } catch {
      return { status: 0, error: words.noServer };
    }
  }

  function applied(done, answer) {
    standing.innerHTML = answer.standing;
    const pair = byToken(done.token);
    if (done.verb === "note") pair.querySelector("textarea").defaultValue = done.data.note;
    replace(pair, answer.pair);
    for (const [token, html] of Object.entries(answer.others)) {
      const other = byToken(token); // it shows the same record, and its costs have changed
      if (other) replace(other, html);
    }
    const spent = standing.querySelector(".previews .reading").textContent;
    const result = {
      open: `${words.opened}: ${spent}`, note: words.noted,
      flag: words.flagged, unflag: words.unflagged,
    }[done.verb] || answer.said;
    if (answer.refused) return say(`${done.name}: ${words.notOpened}, ${answer.refused}.`, true);
    say(`${done.name}: ${result}.${pairs().some(undecided) ? "" : ` ${finished()}`}`);
    if (/decide|skip/.test(done.verb)) ahead();
  }

  // The next pair of the queue, asked for while there is still one to look at.
  async function ahead() {
    const address = pile.dataset.more;
    if (!address || fetching) return;
    fetching = true;
    try {
      const answer = await request(address, new URLSearchParams({ csrfmiddlewaretoken: csrf }));
      if (!answer.ok || !answer.pair || byToken(answer.token)) return;
      const waits = !pairs().some(undecided);
      pile.append(parsed(answer.pair));
      standing.innerHTML = answer.standing;
      if (waits) onward(pairs().at(-2));
    } finally {
      fetching = false;
    }
  }

  // Everything that is not saved, where that is more than a matter of a moment.
  function tell() {
    const refused = new Set(queue.filter((each) => each.refused).map((each) => each.token));
    for (const each of queue) each.late ||= stopped !== null || refused.has(each.token);
    const late = queue.filter((each) => each.late);
    unsent.hidden = !late.length;
    const why = stopped ? told(stopped) : "";
    const place = unsent.querySelector(".why");
    if (place.textContent !== why) place.textContent = why;
    const login = unsent.querySelector("a"); // a page without accounts has none
    if (login) login.hidden = !stopped || stopped.status !== 401;
    unsent.querySelector(".again").setAttribute("aria-disabled", String(sending));
    unsent.querySelector("ol").replaceChildren(...late.map((each) => {
      const line = unsent.querySelector("template").content.cloneNode(true);
      line.querySelector("span").textContent = `${each.name}: ${each.words}`;
      line.querySelector("small").textContent = each.refused;
      line.querySelector("button").setAttribute("aria-label", `${words.discard}: ${each.name}, ${each.words}`);
      line.querySelector("button").addEventListener("click", () => discard(each));
      return line;
    }));
    late.forEach((each) => draw(byToken(each.token), each));
  }

  function discard(done) {
    if (sending && !done.refused) return say(words.beingSaved, true);
    queue.splice(queue.indexOf(done), 1);
    replace(byToken(done.token), served.get(done.token));
    if (stopped || sending) tell();
    else start();
  }

  function again() {
    if (sending) return;
    queue.forEach((each) => { each.refused = ""; });
    start();
  }

  unsent.querySelector(".again").addEventListener("click", again);
  window.addEventListener("online", () => stopped && again());
  window.addEventListener("beforeunload", (event) => {
    if (!queue.length) return;
    event.preventDefault();
    event.returnValue = "unsaved"; // for browsers that do not ask without
  });

  function leave(url) {
    if (sending) {
      leaving = url;
      return say(words.leaving);
    }
    if (!queue.length) leaving = url; // what is pressed from now on is about no pair on screen
    window.location.assign(url);
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a:not([target], [href^='#'])");
    if (!link || !sending || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    leave(link.href);
  });

  function arm(cell) {
    if (armed) armed.classList.remove("armed");
    if (cell) cell.classList.add("armed");
    armed = cell;
    preview(cell && cell.querySelector("[data-cost]"));
  }

  pile.addEventListener("submit", (event) => {
    if (!event.submitter) return;
    event.preventDefault();
    act(event.target, event.submitter);
  });

  // The second half of a double click is not meant for the button that stands there by then.
  pile.addEventListener("click", (event) => {
    if (event.detail > 1 && !touch.matches && event.target.closest("button")) event.preventDefault();
  }, true);

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
  pile.addEventListener("focusin", (event) => {
    show(event.target.closest(".pair"));
    preview(priced(event.target));
  });
  pile.addEventListener("focusout", () => preview(null));

  // --------------------------------------------------------------------------------- keyboard
  // Costs show where the focus is while keys are used, not where a click has left it.
  document.addEventListener("pointerdown", () => pile.classList.add("pointing"));
  document.addEventListener("keydown", () => pile.classList.remove("pointing"), true);

  // The pair that the focus is in, else the first that is to be decided: never one that is done.
  function current() {
    return document.activeElement?.closest(".pair") || pairs().find(undecided);
  }
  // The pair in hand; with one at a time the others are hidden, and what is hidden takes no focus.
  function show(pair) {
    pairs().forEach((each) => each.classList.toggle("now", each === pair));
    steps.querySelector("span").textContent = nameOf(pair);
  }
  function go(pair, column = 0) {
    if (!pair) return;
    show(pair);
    const target = nearest(pair, column);
    if (target) target.focus({ preventScroll: true });
    pair.scrollIntoView({ block: "nearest" });
  }
  const finished = () => (pile.dataset.next ? words.pageDone : words.allDone);
  function onward(from) {
    const all = pairs();
    const next = all.slice(all.indexOf(from) + 1).find(undecided) || all.find(undecided);
    if (next) return go(next);
    const on = document.querySelector(".pile + .pager [rel=next]");
    if (on) on.focus(); // out of the pair: one more key would change its decision
    else said.focus({ preventScroll: true });
    say(finished());
  }
  function step(by, from = document.activeElement?.closest(".pair")) {
    const all = pairs();
    const at = current();
    const place = from ? all.indexOf(from) + by : at ? all.indexOf(at) : all.length - (by < 0 ? 1 : 0);
    if (place >= all.length && pile.dataset.next) leave(pile.dataset.next);
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
  function press(key) {
    const pair = current();
    if (!pair) return say(finished(), true);
    if (!pair.matches(".now")) return go(pair); // an answer is never about a pair that was not looked at
    const button = pair.querySelector(`[data-key="${key}"]`);
    if (button?.matches("summary")) button.parentNode.open = !button.parentNode.open, button.focus();
    else if (button) act(pair, button, true);
    else say(`${nameOf(pair)}: ${words.notNow}`, true);
  }
  function undo() {
    const pair = current();
    const answered = (each) => each?.matches(".decided, .skipped");
    const target = answered(pair) ? pair : byToken(last);
    if (!answered(target) || leaving) return;
    enqueue(target, "withdraw", {}, words.undo);
    if (!target.offsetParent) go(target); // the next key is about a pair that is seen
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("textarea, input, select")) return;
    if (event.repeat && /^([1-6sufn?]|Enter)$/.test(event.key)) return event.preventDefault();
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
      s: () => press("s"), f: () => press("f"),
      "?": () => {
        const help = document.getElementById("help");
        help.open = !help.open;
        if (help.open) help.querySelector("summary").focus();
      },
    };
    if (/^[1-6]$/.test(event.key)) letters[event.key] = () => press(event.key);
    if (!letters[event.key]) return;
    event.preventDefault();
    letters[event.key]();
  });

  steps.addEventListener("click", (event) => {
    if (event.target.dataset.step) step(Number(event.target.dataset.step), pile.querySelector(".now"));
  });
  steps.hidden = false;
  pile.classList.add("stepped");
  show(pile.querySelector(".pair:target") || pairs().find(undecided) || pairs()[0]);

  // Back shows the page as it was; what holds is asked anew.
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) window.location.reload();
  });
})();
