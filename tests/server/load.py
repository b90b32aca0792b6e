"""Many workers at one server at a time: how long each waits, and what they were told was done."""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any

import numpy as np
from patience import PATIENCE
from server.callers import Caller, Reply

CELL = re.compile(r'name="open" value="([\d,:.]+)"')
ANSWERS = (-3, -2, -1, 1, 2, 3)


@dataclass
class Told:
    """What a worker was told was done, and what went wrong.

    Attributes
    ----------
    seconds
        How long each opening took.
    opened
        Per pair and attribute, the mode that was shown.
    decided
        Per pair, the last decision that was acknowledged.
    unsure
        Per pair, the decisions since the last acknowledged one that were never answered.
    refused, answered, away
        Number of openings that were refused, of all answers, and of those that the database was
        away, after which the page asks again.
    faults
        Answers other than those that a worker should get.
    """

    seconds: list[float] = field(default_factory=list)
    opened: dict[tuple[str, int], int] = field(default_factory=dict)
    decided: dict[str, int] = field(default_factory=dict)
    unsure: dict[str, list[int]] = field(default_factory=dict)
    refused: int = 0
    answered: int = 0
    away: int = 0
    faults: list[str] = field(default_factory=list)


class Worker:
    """A worker at a page of pairs."""

    def __init__(self, port: int, session: str, project: str, tokens: Sequence[str]) -> None:
        self.caller = Caller(port, session)
        self.page, self.tokens = f"/projects/{project}/pairs", list(tokens)
        self.rng = random.Random(tokens[0])
        self.told = Told()
        self.openings: list[tuple[str, str]] = []

    def look(self) -> None:
        """Load every page, and note what can be opened on each."""
        first = self.caller.get(f"{self.page}?page=1").text
        pages = int((re.search(r"Page 1 of (\d+)", first) or ["", "1"])[1])
        texts = [first] + [
            self.caller.get(f"{self.page}?page={number}").text for number in range(2, pages + 1)
        ]
        for text in texts:
            for form in text.split("<form ")[1:]:
                token = re.search(r'data-token="([^"]+)"', form)
                if token:
                    self.openings += [(token[1], cell) for cell in CELL.findall(form)]
        self.rng.shuffle(self.openings)

    def click(self) -> None:
        """Open a cell that was not opened yet, and take the time."""
        token, cell = self.openings.pop() if self.openings else (self.tokens[0], "0:2")
        begin = time.perf_counter()
        self._open(token, cell)
        self.told.seconds.append(time.perf_counter() - begin)

    def act(self) -> None:
        """Open a cell or decide a pair, whichever comes."""
        token = self.rng.choice(self.tokens)
        if self.rng.random() < 0.5:
            self._open(token, f"{self.rng.randrange(4)}:2")
        else:
            self._decide(token, self.rng.choice(ANSWERS))

    def _open(self, token: str, cell: str) -> None:
        self.told.answered += 1
        reply = self._post(f"{self.page}/{token}/open", {"open": cell})
        if reply.status == 400:
            return  # a pair that does not offer it
        if not self._fine(reply.status, reply.content):
            return
        if b'"refused": ""' in reply.content:
            places, mode = cell.split(":")[:2]
            for place in places.split(","):
                before = self.told.opened.get((token, int(place)), 0)
                self.told.opened[token, int(place)] = max(before, int(mode))
        else:
            self.told.refused += 1

    def _decide(self, token: str, answer: int) -> None:
        self.told.unsure.setdefault(token, []).append(answer)
        reply = self._post(f"{self.page}/{token}/decide", {"answer": answer})
        del self.told.unsure[token]
        self.told.answered += 1
        if self._fine(reply.status, reply.content):
            self.told.decided[token] = answer

    def _post(self, path: str, form: dict[str, Any]) -> Reply:
        """Send a form until the database is there, as the page's script does."""
        end = time.monotonic() + PATIENCE
        while (reply := self.caller.post(path, form)).status == 503 and time.monotonic() < end:
            self.told.away += 1
            time.sleep(0.2)
        return reply

    def _fine(self, status: int, content: bytes) -> bool:
        fine = status == 200 and content.startswith(b'{"ok": true')
        if not fine:
            self.told.faults.append(f"{status} {content[:200].decode(errors='replace')}")
        return fine


def staff(count: int) -> list[dict[str, Any]]:
    """Accounts: a custodian, a manager, and workers."""
    others: list[dict[str, Any]] = [{"name": n, "roles": [n]} for n in ("custodian", "manager")]
    return others + [{"name": f"worker{n}", "roles": ["worker"]} for n in range(count)]


def workers_of(port: int, made: dict[str, Any], place: int = 0) -> list[Worker]:
    """The workers of a project that was made, at a server."""
    project = made["projects"][place]
    return [
        Worker(port, made["sessions"][name], project["id"], tokens)
        for name, tokens in project["tokens"].items()
    ]


def run(
    workers: Sequence[Worker],
    seconds: float,
    step: Callable[[Worker], None],
    pause: float = 0.0,
) -> None:
    """Have all workers take steps for a while, each about a pause after the one before.

    A worker whose connection ends stops.
    """
    end = time.perf_counter() + seconds

    def work(worker: Worker) -> None:
        time.sleep(worker.rng.random() * pause)
        while time.perf_counter() < end:
            begin = time.perf_counter()
            try:
                step(worker)
            except (OSError, HTTPException):
                return
            wait = pause * worker.rng.uniform(0.5, 1.5)  # people do not keep step
            time.sleep(max(0.0, begin + wait - time.perf_counter()))

    threads = [threading.Thread(target=work, args=(each,)) for each in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for worker in workers:
        worker.caller.close()


def milliseconds(workers: Sequence[Worker]) -> tuple[float, float, float]:
    """Median, 95th and 99th percentile of all openings."""
    found = np.percentile(
        [second for each in workers for second in each.told.seconds], [50, 95, 99]
    )
    return tuple(float(each) * 1000 for each in found)  # type: ignore[return-value]


def contradictions(workers: Sequence[Worker], books: dict[str, Any], place: int = 0) -> list[str]:
    """Where the database says another thing than a worker was told, or than it says itself.

    Parameters
    ----------
    workers
        The workers, with what they were told.
    books
        `making.books` of the server.
    place
        Which of its projects.
    """
    project = books["projects"][place]
    spent = {(fingerprint, worker): score for fingerprint, worker, score in books["spent"]}
    found = [books["fault"]] if books["fault"] else []
    if project["combined"] != project["combined again"]:
        found.append("the combined state is another than the pairs'")
    for name, book in project["workers"].items():
        score = spent[project["fingerprint"], book["pseudonym"]]
        if book["units"] != book["units again"]:
            found.append(f"{name}: charged {book['units']}, shown {book['units again']}")
        if abs(book["spent"] - book["score again"]) > 1e-9 or abs(score - book["spent"]) > 1e-9:
            found.append(f"{name}: scores {book['spent']}, {book['score again']}, {score}")
        if book["budget"] is not None and score > book["budget"] + 1e-12:
            found.append(f"{name}: {score} of {book['budget']}")
        for token, (kind, answer) in book["history"].items():
            if book["answers"][token] != (answer if kind == "decided" else 0):
                found.append(f"{name}: a decision is another than its history")
    for worker in workers:
        found += _against(worker, project["workers"])
    return found


def _against(worker: Worker, books: dict[str, Any]) -> list[str]:
    book = next(each for each in books.values() if worker.tokens[0] in each["modes"])
    found = [f"fault: {fault}" for fault in worker.told.faults]
    for (token, place), mode in worker.told.opened.items():
        modes = book["modes"][token]
        if not modes or int(modes[place]) < mode:
            found.append("an opening that was answered is lost")
    for token, answer in worker.told.decided.items():
        if book["answers"][token] not in (answer, *worker.told.unsure.get(token, ())):
            found.append("a decision that was answered is lost")
    return found
