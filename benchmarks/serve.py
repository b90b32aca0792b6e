"""How fast the server answers while many people open cells, and whether it keeps its word.

Usage: serve.py [--records N] [--seconds S] [--database sqlite|postgresql] [--nice] [--keep FOLDER]
    [PART ...]

The server is a process of its own, with its own data, keys and database. The parts: ``clicks``,
50 workers who open a cell every two seconds each, for S = 60 s; ``full``, 100 workers at full speed
for 60 s; ``kill``, 100 workers at full speed, the server killed three times. After ``full`` and
``kill`` the database is held against what every worker was told.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from review import ATTRIBUTES, registered
from server.load import Worker, contradictions, milliseconds, run, staff, workers_of
from server.servers import Server, postgresql, postgresql_process, running

if TYPE_CHECKING:
    from collections.abc import Iterator

CLICKING, PAUSE, CLICK_SECONDS = 50, 2.0, 60.0
BUSY, BUSY_SECONDS = 100, 60.0
KILLS, KILL_SECONDS = 3, 8.0
PILE = 40
"""Pairs of a worker."""
BUDGET = 0.004
"""KAPR that each of the busy workers may spend; they reach it."""
PARTS = ("clicks", "full", "kill")


def report(
    records: int,
    database: str,
    parts: list[str],
    *,
    seconds: float = CLICK_SECONDS,
    nice: bool = False,
    keep: Path | None = None,
) -> None:
    """Make a server with a project for each part, and print what was measured."""
    with _folder(keep) as folder:
        table = folder / f"records-{records}.parquet"
        pairs = _records(records, table)
        for part in parts:
            url = postgresql() if database == "postgresql" else ""
            name = folder / f"{part}-{time.time_ns()}"
            with running(name, url) as server:
                workers = CLICKING if part == "clicks" else BUSY
                budget = None if part == "clicks" else BUDGET
                begin = time.perf_counter()
                made = server.make(_job(table, pairs, workers, budget))
                print(
                    f"{records:,} records on {database}, {workers} workers with {PILE} pairs each; "
                    f"project made in {time.perf_counter() - begin:.0f} s",
                    flush=True,
                )
                found = workers_of(server.port, made)
                if nice:
                    _ahead(server)
                with _prepared(found):
                    if part == "clicks":
                        _clicks(server, found, seconds)
                    else:
                        _PARTS[part](server, found)


def _clicks(server: Server, workers: list[Worker], seconds: float) -> None:
    before = server.processor_seconds()
    run(workers, seconds, Worker.click, PAUSE)
    used, count = server.processor_seconds() - before, sum(len(w.told.seconds) for w in workers)
    p50, p95, p99 = milliseconds(workers)
    longest = max(second for each in workers for second in each.told.seconds)
    print(
        f"  clicks: {count} openings, median {p50:.1f} ms, 95 % within {p95:.1f} ms, 99 % within "
        f"{p99:.1f} ms, longest {longest * 1000:.0f} ms; {used / count * 1000:.1f} ms of processor "
        f"time each; load average {os.getloadavg()[0]:.1f}"
    )
    _check(server, workers)


def _full(server: Server, workers: list[Worker]) -> None:
    run(workers, BUSY_SECONDS, Worker.act)
    answers = sum(each.told.answered for each in workers)
    print(
        f"  full speed: {answers} answers in {BUSY_SECONDS:.0f} s, {answers / BUSY_SECONDS:.0f} a "
        f"second; {sum(each.told.refused for each in workers)} openings refused, "
        f"{sum(len(each.told.decided) for each in workers)} pairs decided; "
        f"load average {os.getloadavg()[0]:.1f}"
    )
    _check(server, workers)


def _kill(server: Server, workers: list[Worker]) -> None:
    for _ in range(KILLS):
        timer = threading.Timer(KILL_SECONDS, server.kill)
        timer.start()
        run(workers, KILL_SECONDS + 60, Worker.act)
        timer.join()
        server.start()
    answers = sum(each.told.answered for each in workers)
    print(f"  killed {KILLS} times in {answers} answers")
    _check(server, workers)


_PARTS = {"full": _full, "kill": _kill}


def _check(server: Server, workers: list[Worker]) -> None:
    """Hold the database against what every worker was told."""
    books = server.books()
    found = contradictions(workers, books)
    shares = [
        book["score again"] / book["budget"]
        for book in books["projects"][0]["workers"].values()
        if book["budget"]
    ]
    spent = f"; at most {100 * max(shares):.2f} % of a budget spent" if shares else ""
    print(
        f"  {books['entries']} entries of the log verified; {len(found)} contradictions{spent}",
        *(f"    {each}" for each in found[:10]),
        sep="\n",
        flush=True,
    )


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep
        return
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def _records(count: int, path: Path) -> list[tuple[int, int]]:
    """Write generated registrations, and give pairs of them."""
    side = path.with_suffix(".npy")
    if path.is_file() and side.is_file():
        return [tuple(pair) for pair in np.load(side).tolist()]
    columns, pairs = registered(count)
    text = pa.large_string()
    table = {"source": pa.array(["clinic"] * count, text)}
    table["id"] = pa.array(np.arange(count)).cast(text)
    for attribute, column in zip(ATTRIBUTES, columns, strict=True):
        table[attribute.name] = column.cast(text)
    pq.write_table(pa.table(table), path)
    np.save(side, np.array(pairs))
    return pairs


def _job(table: Path, pairs: list[tuple[int, int]], workers: int, budget: float | None) -> Any:
    dealt = {
        f"worker{number}": [(number * 7 + step) % len(pairs) for step in range(PILE)]
        for number in range(workers)
    }
    project = {
        "attributes": [each.model_dump(mode="json") for each in ATTRIBUTES],
        "records": str(table),
        "pairs": pairs,
        "dealt": dealt,
        "settings": {"budget": budget},
    }
    return {"accounts": staff(workers), "projects": [project]}


@contextmanager
def _prepared(workers: list[Worker]) -> Iterator[None]:
    """Workers who have looked at their pages; the first request reads the index."""
    begin = time.perf_counter()
    workers[0].look()
    first = time.perf_counter() - begin
    begin = time.perf_counter()
    for worker in workers[1:]:
        worker.look()
    each = (time.perf_counter() - begin) / (len(workers) - 1) / (PILE / 10)
    print(
        f"  first page in {first:.1f} s with the index, each new page of 10 in {each * 1000:.0f} ms"
    )
    try:
        yield
    finally:
        for worker in workers:
            worker.caller.close()


def _ahead(server: Server) -> None:
    """Let server, database and workers go before others on a machine that is shared."""
    assert server.process is not None
    processes = [os.getpid(), server.process.pid]
    if server.database:
        first = postgresql_process()
        children = Path(f"/proc/{first}/task/{first}/children").read_text(encoding="utf-8")
        processes += [first, *map(int, children.split())]
    for process in processes:
        for thread in Path(f"/proc/{process}/task").iterdir():
            os.sched_setscheduler(int(thread.name), os.SCHED_RR, os.sched_param(1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(PARTS), metavar="PART")
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=CLICK_SECONDS, help="of the clicks")
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--nice", action="store_true", help="go before others; for root")
    parser.add_argument("--keep", type=Path, help="folder to keep what is made in")
    given = parser.parse_args()
    report(
        given.records,
        given.database,
        given.parts,
        seconds=given.seconds,
        nice=given.nice,
        keep=given.keep,
    )
