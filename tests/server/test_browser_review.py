"""A review of 20 pairs in a real browser, with every byte between it and the server kept."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from server.browsers import browser, log_in
from server.canaries import ATTRIBUTES, LETTERS, canary, found, planted
from server.proxy import Recording, recording
from server.servers import Server, project, running

pytestmark = pytest.mark.slow

PAIRS, PAGE = 20, 5
PASSWORD = "what a worker types in"
FULL = "2"
STORED = """async () => ({
  local: Object.entries(localStorage), session: Object.entries(sessionStorage),
  databases: (await indexedDB.databases()).map(each => each.name),
  caches: await caches.keys(), cookies: document.cookie,
  workers: (await navigator.serviceWorker.getRegistrations()).length,
})"""
EMPTY = {"local": [], "session": [], "databases": [], "caches": [], "cookies": "", "workers": 0}


@dataclass
class Reviewed:
    """What a scripted review left.

    Attributes
    ----------
    rows
        What was planted: two rows for each pair.
    ids
        Ids of records and pairs, planted as well.
    full
        Pairs and attributes that were opened in full.
    recorded
        Every byte.
    server
        The server, which runs no more.
    profile
        The browser's folder, after it was closed.
    stored
        What the pages had stored: while working, and after logging out.
    cookies
        The browser's cookies after logging out.
    back
        What Back showed after logging out.
    tags
        Everything that stood in tags of the worker's pages.
    faults
        Errors of the console.
    decided
        Number of decisions that the last page said.
    """

    rows: list[tuple[str, ...]]
    ids: list[str]
    full: set[tuple[int, int]]
    recorded: Recording
    server: Server
    profile: Path
    stored: list[Any]
    cookies: list[Any]
    back: list[str]
    tags: str
    faults: list[str]
    decided: str

    @property
    def paid(self) -> set[str]:
        """Values that were opened in full."""
        return {self.rows[2 * pair + row][place] for pair, place in self.full for row in (0, 1)}

    @property
    def hidden(self) -> set[str]:
        """Values that were not; an opened one may stand in the other row as well."""
        return {value for row in self.rows for value in row} - self.paid


class Worker:
    """A worker at a browser, who does what workers do, in an order that a seed gives."""

    def __init__(self, page: Any, address: str, rng: random.Random) -> None:
        self.page, self.address, self.rng = page, address, rng
        self.full: set[tuple[int, int]] = set()
        self.tags: list[str] = []

    def review(self) -> None:
        """Go through all pages."""
        page = self.page
        log_in(page, self.address, "wanda", PASSWORD)
        for number in range(PAIRS // PAGE):
            assert page.locator(".pair").count() == PAGE
            for place in range(PAGE):
                self.pair(number * PAGE + place, place)
            self.tags.append(page.evaluate("() => document.documentElement.outerHTML"))
            if number == 1:
                page.reload()
            if number < PAIRS // PAGE - 1:
                with page.expect_navigation():
                    page.locator("a[rel=next]").first.click()
        page.go_back()
        page.wait_for_load_state()
        page.go_forward()
        page.wait_for_load_state()

    def pair(self, number: int, place: int) -> None:
        """Open some cells of a pair, and say something of it."""
        for _ in range(self.rng.choice([0, 1, 2, 3])):
            self._open(number, place)
        what = self.rng.random()
        if what < 0.1:
            self._press(place, "s", ".pair.skipped")
        else:
            self._press(place, str(self.rng.randrange(1, 7)), ".pair.decided")
        if what > 0.8:
            self._press(place, "u", ".pair.undecided")
            self._press(place, "6", ".pair.decided")
        if 0.4 < what < 0.5:
            self._press(place, "f", ".pair.flagged")

    def _open(self, number: int, place: int) -> None:
        pair = self.page.locator(".pair").nth(place)
        buttons = pair.locator(".column button[name=open]:not([aria-disabled])")
        if not buttons.count():
            return
        button = buttons.nth(self.rng.randrange(buttons.count()))
        attribute, mode = button.get_attribute("value").split(":")[:2]
        self._answered(lambda: button.dispatch_event("click"))
        if mode == FULL:
            self.full.add((number, int(attribute)))

    def _press(self, place: int, key: str, then: str) -> None:
        pair = self.page.locator(".pair").nth(place)
        self._answered(lambda: pair.locator(f'[data-key="{key}"]').dispatch_event("click"))
        self.page.locator(".pile > *").nth(place).and_(self.page.locator(then)).wait_for(
            state="attached"
        )

    def _answered(self, click: Any) -> None:
        with self.page.expect_response(lambda answer: answer.request.method == "POST") as answer:
            click()
        assert answer.value.ok
        # The page has the answer once the pair is drawn anew.
        self.page.wait_for_function("() => !document.querySelector('.pair.unsaved')")


@pytest.fixture(scope="module")
def reviewed(chromium: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reviewed]:
    """A server, a proxy, a browser, a review of 20 pairs."""
    rng, folder = random.Random(2026), tmp_path_factory.mktemp("review")
    rows = planted(rng, PAIRS)
    ids, pair_ids = ([canary(rng) for _ in range(count)] for count in (2 * PAIRS, PAIRS))
    pairs = [(2 * pair, 2 * pair + 1) for pair in range(PAIRS)]
    with running(folder / "server") as server, recording(server.port) as recorded:
        server.make(
            {
                "accounts": [
                    {"name": "custodian", "roles": ["custodian"]},
                    {"name": "manager", "roles": ["manager"]},
                    {"name": "wanda", "roles": ["worker"], "password": PASSWORD},
                ],
                "projects": [
                    project(
                        ATTRIBUTES,
                        rows,
                        pairs,
                        {"wanda": range(PAIRS)},
                        ids=ids,
                        pair_ids=pair_ids,
                        fields={"page_size": PAGE},
                        settings={"mask_width": "true", "budget": None},
                    )
                ],
            }
        )
        with browser(chromium, folder / "profile") as context:
            page = context.pages[0]
            worker = Worker(page, recorded.address, rng)
            worker.review()
            stored = [page.evaluate(STORED)]
            decided = page.locator("#standing .meter").last.inner_text()
            page.locator(".who button").click()
            page.wait_for_url("**/logout")
            stored.append(page.evaluate(STORED))
            cookies = context.cookies()
            back = []
            for _ in range(4):
                page.go_back()
                page.wait_for_load_state()
                page.wait_for_function("() => document.readyState === 'complete'")
                back.append(page.content())
            faults = list(context.faults)
        server.stop()
        yield Reviewed(
            rows=rows,
            ids=ids + pair_ids,
            full=worker.full,
            recorded=recorded,
            server=server,
            profile=folder / "profile",
            stored=stored,
            cookies=cookies,
            back=back,
            tags="".join(part.split(">")[0] for text in worker.tags for part in text.split("<")),
            faults=faults,
            decided=decided,
        )


def test_the_review_was_one(reviewed: Reviewed) -> None:
    assert len(reviewed.paid) > 16
    assert len(reviewed.hidden) > 80
    assert len(reviewed.recorded.answers) > 200_000
    assert f"of {PAIRS} decided" in reviewed.decided
    assert reviewed.faults == []


def test_no_undisclosed_value_is_in_any_byte(reviewed: Reviewed) -> None:
    received = reviewed.recorded.answers
    assert found(reviewed.hidden, received) == []
    assert found(reviewed.ids, received) == [], "an id of a record or a pair"


def test_what_was_paid_for_is_there(reviewed: Reviewed) -> None:
    """The test above would find what it looks for."""
    assert set(found(reviewed.paid, reviewed.recorded.answers)) == reviewed.paid


def test_no_value_is_in_a_request_or_a_header(reviewed: Reviewed) -> None:
    everything = reviewed.paid | reviewed.hidden
    assert found(everything, reviewed.recorded.requests) == []
    headers = b"\n".join(
        part.partition(b"\r\n\r\n")[0]
        for stream in reviewed.recorded.received
        for part in bytes(stream).split(b"HTTP/1.1 ")
    )
    assert b"no-store" in headers
    assert found(everything, headers) == []


def test_no_value_is_in_a_tag(reviewed: Reviewed) -> None:
    assert "data-cost" in reviewed.tags
    assert found(reviewed.paid, reviewed.tags.encode()) == []


def test_nothing_is_stored_in_the_browser(reviewed: Reviewed) -> None:
    assert reviewed.stored == [EMPTY, EMPTY]
    (known,) = reviewed.cookies
    assert known["name"].startswith("device-"), "nothing but that the browser is known"


def test_back_shows_nothing_after_logging_out(reviewed: Reviewed) -> None:
    assert len(reviewed.back) == 4
    for text in reviewed.back:
        assert found(reviewed.paid, text.encode()) == []
        assert 'class="pair' not in text


def test_no_value_is_in_the_browsers_folder(reviewed: Reviewed) -> None:
    files = [path for path in reviewed.profile.rglob("*") if path.is_file()]
    assert len(files) > 10
    holding = {
        str(path.relative_to(reviewed.profile)): found(
            reviewed.paid | reviewed.hidden, path.read_bytes()
        )
        for path in files
    }
    assert {path: values for path, values in holding.items() if values} == {}


def test_no_value_is_on_the_servers_disk_or_in_what_it_said(reviewed: Reviewed) -> None:
    everything = reviewed.paid | reviewed.hidden | set(reviewed.ids)
    assert found(everything, reviewed.server.said) == []
    files = [path for path in reviewed.server.data.rglob("*") if path.is_file()]
    assert len(files) >= 5
    for path in files:
        content = path.read_bytes()
        assert found(everything, content) == [], path.name
        assert PASSWORD.encode() not in content
    database = (reviewed.server.data / "sfumato.sqlite3").read_bytes()
    assert database.count(b"argon2id$") >= 1
    assert LETTERS == 12
