"""How long the workbench takes at its clicks, asked as a browser asks: the times of the places.

Usage: workbench.py [--records N] [--people N] [--search-seconds S]

A file of N records (1,000,000) of 20 columns is made; the workbench is a process of its own. Each
line is wall time at this machine, the shortest of some runs where it can be run again, beside what
was aimed at.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
from timing import machine

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from server.workbench.workbenches import Workbench, workbench

from sfumato.pipeline.project_folder import open_project
from sfumato.pipeline.proposal import ProposalRequest, propose
from sfumato.server.workbench.column_edits import set_role
from sfumato.server.workbench.jobs import Jobs
from sfumato.server.workbench.project_edits import ProjectEdits
from sfumato.server.workbench.release_dots import DOT

RECORDS, PEOPLE, COLUMNS = 1_000_000, 300_000, 20
PLACES = ("/data", "/release", "/attack", "/sign", "/link")


def report(records: int, people: int, search_seconds: float) -> None:
    """Make the file, and print each time beside its aim."""
    print(f"{machine()}; {records:,} records of {people:,} people, {COLUMNS} columns")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _visits(folder / "visits.csv", records, people)
        request = ProposalRequest(
            {"visits": folder / "visits.csv"}, folder, seed=7, ledger={"remember": False}
        )
        file = folder / "sfumato.toml"
        file.write_text(propose(request).text, encoding="utf-8")
        _decide(file)
        with workbench(folder, [file]) as bench:
            Clicks(bench, file, search_seconds).measure()


def _decide(file: Path) -> None:
    edits = ProjectEdits(file)
    schema = open_project(file).given_schema()
    for column in () if schema is None else schema.undecided:
        change = set_role(open_project(file), column, "insensitive")
        edits.edit(change, expected=edits.sha(), words="decided")


def _visits(file: Path, records: int, people: int) -> None:
    rng = np.random.default_rng(1)
    person = np.sort(rng.integers(0, people, records))
    of_person = {"birth_year": (1930, 2010), "sex": (0, 2), "zip": (10115, 14199)}
    columns: dict[str, np.ndarray] = {"patient": np.char.add("P", person.astype(str))}
    columns |= {name: rng.integers(*ends, people)[person] for name, ends in of_person.items()}
    columns |= {"charge": rng.integers(20, 900, records), "ward": rng.integers(0, 40, records)}
    others = COLUMNS - len(columns)
    columns |= {f"item_{n}": rng.integers(0, 3 + 2 * n, records) for n in range(others)}
    pa_csv.write_csv(pa.table(columns), file)


class Clicks:
    """A person at the workbench, timed."""

    def __init__(self, bench: Workbench, file: Path, search_seconds: float) -> None:
        self._bench, self._file, self._seconds = bench, file, search_seconds
        self._cookie = bench.enter()

    def measure(self) -> None:
        """Print what each click takes."""
        self._line("names (Data, before it is counted)", 2.0, self._page("/data"))
        self._line("all that Data counts", 5.0, self._page("/data?table=0&counts=1"))
        roles = [self._role(role) for role in ("sensitive", "quasi-identifier") * 3]
        self._line("people alone after a change of role, the page with it", 0.2, min(roles))
        self._line("the same as it takes longest", 0.2, max(roles))
        tried = [self._bracket(bars) for bars in (4, 8, 16)]
        self._line("people alone at a bracket that moves", 0.2, min(tried))
        moved = [self._promise(people) for people in (12, 13, 14)]
        self._line("a promise that moves, the page with it", 0.1, min(moved))
        self._search()

    def _page(self, path: str, body: str | None = None) -> float:
        start = time.perf_counter()
        method = "GET" if body is None else "POST"
        status, headers, text = self._bench.ask(path, method, body or "", cookie=self._cookie)
        if status in (302, 303):
            status, _, text = self._bench.ask(headers["Location"], cookie=self._cookie)
        assert status == 200, status
        self._text = text.decode()
        return time.perf_counter() - start

    def _number(self, column: str) -> str:
        found = re.search(rf'id="column-(\d+)" data-name="{column}"', self._text)
        assert found is not None
        return found[1]

    def _role(self, role: str) -> float:
        self._page("/data")
        form = {"role": role, "table": "0", "expected": self._expected()}
        return self._page(f"/data/{self._number('zip')}/role", urlencode(form))

    def _bracket(self, bars: int) -> float:
        self._page("/data")
        form = {"levels": "width", "steps": "", "bracket": str(bars), "table": "0"}
        return self._page(f"/data/{self._number('birth_year')}", urlencode(form))

    def _promise(self, people: int) -> float:
        self._page("/release")
        form = {"people": str(people), "expected": self._expected()}
        return self._page("/release/promise", urlencode(form))

    def _expected(self) -> str:
        found = re.search(r'name="expected" value="([0-9a-f]+)"', self._text)
        assert found is not None
        return found[1]

    def _search(self) -> None:
        self._page("/release/search", "")
        start, jobs = time.perf_counter(), Jobs(self._file)
        times, dots = list[float](), list[tuple[float, str]]()
        while time.perf_counter() - start < self._seconds:
            job = jobs.latest("dots")
            told = [] if job is None else [line[DOT] for line in job.lines if DOT in line]
            now = time.perf_counter() - start
            dots += [(now, dot["kind"]) for dot in told[len(dots) :]]
            times.append(self._page(PLACES[len(times) % len(PLACES)]))
            time.sleep(0.2)
        for kind, aim in (("sample", 1.0), ("rough", 20.0)):
            own = [at for at, of in dots if of == kind]
            if own:
                self._line(f"first {kind} dot of the search, from the click", aim, own[0])
            if len(own) > 1:
                gaps = [after - before for before, after in pairwise(own)]
                self._line(f"each {kind} dot after the one before, at most", aim, max(gaps))
            print(f"{len(own)} {kind} dots in {self._seconds:g} s")
        job = jobs.latest("dots")
        assert job is not None
        print(f"the search is {job.state}: {job.ended.get('said', 'no word')}")
        slow = float(np.quantile(times, 0.95))
        self._line(f"any click during the search, 95 % of {len(times)}", 0.3, slow)
        status = Path(f"/proc/{self._bench.process.pid}/status").read_text(encoding="ascii")
        most = int(status.partition("VmHWM:")[2].split()[0]) / 2**20
        print(f"memory of the workbench, at most: {most:.1f} GiB (aim 4 GiB)")

    def _line(self, what: str, aim: float, took: float) -> None:
        print(f"{what}: {took:.2f} s (aim {aim:g} s)", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=RECORDS)
    parser.add_argument("--people", type=int, default=PEOPLE)
    parser.add_argument("--search-seconds", type=float, default=120.0)
    asked = parser.parse_args()
    report(asked.records, asked.people, asked.search_seconds)
