"""Every page in a real browser: accessible, as wide as the screen, without an error."""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from conftest import missing
from server.browsers import browser
from server.callers import Caller
from server.canaries import ATTRIBUTES, planted
from server.servers import Server, project, running

pytestmark = pytest.mark.slow

SIZES = {"desk": (1280, 900), "tablet": (820, 1180)}
PAIRS, PASSWORD = 12, "what all of them type in"
ROLES = ("custodian", "manager", "worker", "auditor")
KEYS = "worker2"
"""A worker who has not begun, and uses nothing but the keyboard."""
MOST = 18
"""Pages of a role that are looked at."""
SERIOUS = ("serious", "critical")
AXE = """axe.run(document, {resultTypes: ["violations"]}).then(found => JSON.stringify(
  found.violations.map(each => [each.impact, each.id, each.nodes.slice(0, 3).map(
    node => node.target.join(" ") + " | " + (node.any[0] || node.all[0] || {message: ""}).message)]
)))"""
BAD = """() => document.querySelector("main").insertAdjacentHTML("beforeend",
  '<input type="text"><img src="/x.png"><h1>Two</h1>'
  + '<pre>' + 'x'.repeat(2000) + '</pre>')"""
WIDER = """() => [document.documentElement.scrollWidth - innerWidth,
  [...document.querySelectorAll("body *")].filter(each => {
    const box = each.getBoundingClientRect();
    return box.width > 0 && box.right > innerWidth + 1 && !each.closest(".scroll, .hidden, svg");
  }).map(each => each.tagName + "." + each.className).slice(0, 5)]"""


@dataclass
class Visit:
    """A page that was visited: what axe found, how far it is too wide, how often it has an h1."""

    path: str
    violations: list[Any]
    wider: dict[str, list[Any]]
    headings: int
    title: str


@dataclass
class Tour:
    """All pages of a role."""

    visits: list[Visit] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def _axe() -> str:
    try:
        return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    except ImportError:
        missing("no axe; install axe-playwright-python, of the dependency group 'test'")


@pytest.fixture(scope="module")
def running_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server."""
    with running(tmp_path_factory.mktemp("pages") / "server") as server:
        yield server


@pytest.fixture(scope="module")
def made(running_server: Server) -> dict[str, Any]:
    """Its accounts, and its project."""
    return running_server.make(_job())


@pytest.fixture(scope="module")
def context(chromium: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A browser."""
    with browser(chromium, tmp_path_factory.mktemp("browser") / "profile") as context:
        yield context


@pytest.fixture(scope="module")
def tours(running_server: Server, made: dict[str, Any], context: Any) -> dict[str, Tour]:
    """What somebody of each role, and somebody who has not logged in, finds on all pages."""
    axe, address, one = _axe(), running_server.address, made["projects"][0]
    _work(running_server.port, made)
    found = {}
    for role in ("nobody", *ROLES):
        context.clear_cookies()
        context.faults.clear()
        if role != "nobody":
            session = made["sessions"][f"{role}0"]
            context.add_cookies([{"name": "sessionid", "value": session, "url": address}])
        pages = context.pages[0], context.new_cdp_session(context.pages[0])
        found[role] = _tour(pages, address, role, axe, one["id"])
        if role == "manager":
            _upload(pages[0], address)
            found[role].visits.append(_visit(*pages, "/projects/new/settings", role, axe))
        found[role].faults = list(context.faults)
    context.pages[0].goto(f"{address}/login")
    context.pages[0].evaluate(BAD)
    found["bad"] = Tour([_visit(context.pages[0], pages[1], "/bad", "bad", axe)])
    return found


def _job() -> dict[str, Any]:
    accounts = [
        {"name": f"{role}{number}", "roles": [role], "password": PASSWORD}
        for role in ROLES
        for number in range(2)
    ]
    accounts.append({"name": KEYS, "roles": ["worker"], "password": PASSWORD})
    job = project(
        ATTRIBUTES,
        planted(random.Random(3), PAIRS),
        [(2 * pair, 2 * pair + 1) for pair in range(PAIRS)],
        {"worker0": range(PAIRS), "worker1": range(PAIRS), KEYS: range(PAIRS)},
        title="Patients of two clinics",
        custodian="custodian0",
        manager="manager0",
        gold={"p0": True, "p1": False},
        fields={"overlap": 3, "gold_share": 0.2},
        settings={"budget": 0.3, "hints": True},
    )
    return {"accounts": accounts, "projects": [job]}


def _work(port: int, made: dict[str, Any]) -> None:
    """Cells that are open, decisions that agree and do not, a skip, a flag, a note."""
    one = made["projects"][0]
    for number in range(2):
        name = f"worker{number}"
        caller = Caller(port, made["sessions"][name])
        work = f"/projects/{one['id']}/pairs"
        for page in (1, 2):
            caller.get(f"{work}?page={page}")
        for place, token in enumerate(one["tokens"][name][:9]):
            caller.post(f"{work}/{token}/open", {"open": f"{place % 4}:2"})
            answer = 3 if place < 5 or number else -2
            caller.post(f"{work}/{token}/decide", {"answer": answer})
        last = one["tokens"][name][9:]
        caller.post(f"{work}/{last[0]}/skip")
        caller.post(f"{work}/{last[1]}/flag")
        caller.post(f"{work}/{last[1]}/note", {"note": "Look at this one"})
        caller.close()


def _tour(pages: Any, address: str, role: str, axe: str, known: str) -> Tour:
    """Follow every link from the start, once for each kind of address that it leads to."""
    page, inspector = pages
    todo = ["/", "/login", "/account", "/no-such-page"]
    if role != "nobody":
        todo += [f"/projects/{known}{tail}" for tail in ("/", "/pairs", "/grants", "/conflicts")]
    seen: set[str] = set()
    tour = Tour()
    while todo and len(tour.visits) < MOST:
        path = todo.pop(0)
        kind = _kind(path)
        if kind in seen or "/export/" in path or path.endswith(("/image", "/download")):
            continue
        seen.add(kind)
        page.set_viewport_size({"width": 1280, "height": 900})
        answer = page.goto(f"{address}{path}", wait_until="load")
        if answer is None or "text/html" not in answer.headers.get("content-type", ""):
            continue
        landed = _kind(page.url.removeprefix(address))
        if landed != kind and landed in seen:
            continue
        seen.add(landed)
        tour.visits.append(_visit(page, inspector, path, role, axe))
        links = page.eval_on_selector_all(
            "a[href]", "each => each.map(a => a.getAttribute('href'))"
        )
        todo += [link.partition("#")[0] for link in links if link.startswith("/")]
    return tour


def _kind(path: str) -> str:
    """An address without what it asks for, and a sign for each number or name in it."""
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|\bw[0-9a-f]{8}\b|\d+", "#", path.partition("?")[0])


def _upload(page: Any, address: str) -> None:
    """Two tables, so that the page of a new project's rules shows what it proposes."""
    rows = planted(random.Random(9), 6)
    lines = [f"r{number}," + ",".join(row) for number, row in enumerate(rows)]
    page.goto(f"{address}/projects/new")
    for name, half in (("one", lines[::2]), ("two", lines[1::2])):
        content = "\n".join(["id,given,family,street,town,kind", *half]).encode()
        file = {"name": f"{name}.csv", "mimeType": "text/csv", "buffer": content}
        page.set_input_files(f"input[name=tables-{name}]", file)
    page.click("button[value=tables]")
    page.wait_for_url("**/projects/new/settings")


def _visit(page: Any, inspector: Any, path: str, role: str, axe: str) -> Visit:
    wider = {}
    inspector.send("Runtime.evaluate", {"expression": axe})
    result = inspector.send(
        "Runtime.evaluate", {"expression": AXE, "awaitPromise": True, "returnByValue": True}
    )
    for name, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        wider[name] = page.evaluate(WIDER)
        if kept := os.environ.get("SFUMATO_SCREENSHOTS"):
            file = f"{role}{re.sub(r'[^a-z]+', '-', path)}-{name}.png"
            page.screenshot(path=Path(kept) / file, full_page=True)
    return Visit(
        path,
        json.loads(result["result"]["value"]),
        wider,
        page.locator("h1").count(),
        page.title(),
    )


def test_what_is_wrong_is_found(tours: dict[str, Tour]) -> None:
    (visit,) = tours["bad"].visits
    assert {"label", "image-alt"} <= {rule for _, rule, _ in visit.violations}
    assert all(over > 0 for over, _ in visit.wider.values())
    assert visit.headings == 2


@pytest.mark.parametrize("role", ["nobody", *ROLES])
def test_no_page_has_a_serious_violation(tours: dict[str, Tour], role: str) -> None:
    tour = tours[role]
    assert len(tour.visits) >= (2 if role == "nobody" else 5)
    found = [
        f"{visit.path}: {impact} {rule} {nodes}"
        for visit in tour.visits
        for impact, rule, nodes in visit.violations
        if impact in SERIOUS
    ]
    assert found == []


@pytest.mark.parametrize("role", ["nobody", *ROLES])
def test_every_page_fits_a_desk_and_a_tablet(tours: dict[str, Tour], role: str) -> None:
    found = [
        f"{visit.path} at {name}: {over} {elements}"
        for visit in tours[role].visits
        for name, (over, elements) in visit.wider.items()
        if over > 0
    ]
    assert found == []


@pytest.mark.parametrize("role", ["nobody", *ROLES])
def test_every_page_has_a_title_and_one_heading(tours: dict[str, Tour], role: str) -> None:
    for visit in tours[role].visits:
        assert visit.headings == 1, visit.path
        assert re.fullmatch(r"\S.* · sfumato", visit.title), visit.path


@pytest.mark.parametrize("role", ["nobody", *ROLES])
def test_no_page_has_an_error_in_its_console(tours: dict[str, Tour], role: str) -> None:
    own = (
        "the server responded with a status of"  # that the page is one of those is looked at above
    )
    assert [fault for fault in tours[role].faults if own not in fault] == []


@pytest.mark.usefixtures("made")
def test_a_worker_needs_no_pointer(running_server: Server, context: Any) -> None:
    """From the page for logging in to a decision and out again, by keys alone."""
    context.clear_cookies()
    context.faults.clear()
    page = context.new_page()
    page.goto(running_server.address)
    _tab_to(page, "input[name=name]")
    page.keyboard.type(KEYS)
    _tab_to(page, "input[name=password]")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_selector(".pair")
    _tab_to(page, ".pair .cover")
    page.keyboard.press("Enter")
    page.wait_for_selector(".column.full, .column.partial")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("6")
    page.wait_for_selector(".pair.decided", state="attached")
    page.keyboard.press("u")
    page.wait_for_selector(".pair.decided", state="detached")
    page.keyboard.press("1")
    page.wait_for_selector(".pair.decided", state="attached")
    _tab_to(page, ".who button", back=True)
    page.keyboard.press("Enter")
    page.wait_for_url("**/logout")
    assert context.faults == []
    page.close()


def _tab_to(page: Any, selector: str, *, back: bool = False) -> None:
    for _ in range(60):
        if page.evaluate("what => document.activeElement.matches(what)", selector):
            return
        page.keyboard.press("Shift+Tab" if back else "Tab")
    raise AssertionError(f"no way to {selector} by Tab")
