"""Workbenches are processes of their own: no server of this process is needed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE
from server.browsers import launched
from server.workbench.workbenches import Workbench, workbench

from sfumato.pipeline.proposal import ProposalRequest, propose

PEOPLE = 120


@pytest.fixture(autouse=True)
def _empty() -> None:
    """Instead of that of the clerks' server."""


def visits(file: Path, people: int = PEOPLE, seed: int = 1) -> Path:
    """Write a table of visits of made-up people."""
    rng = random.Random(seed)
    lines = ["patient,given_name,birth_year,sex,zip,icd9,charge"]
    for number in range(people):
        name, sex = rng.choice(["Anna", "Ben", "Clara", "Dora", "Emil"]), rng.choice("mf")
        known = f"P{number:04d},{name},{rng.randint(1930, 2010)},{sex},{rng.randint(10115, 10119)}"
        lines += [
            f"{known},{rng.choice(['250.1', '401.9', '428.0', '715.9'])},{rng.randint(20, 900)}"
            for _ in range(rng.randint(1, 3))
        ]
    file.write_text("\n".join(lines) + "\n")
    return file


def project(folder: Path, people: int = PEOPLE) -> Path:
    """Write a project of visits that remembers nothing, with a comment of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    table = visits(folder / "visits.csv", people)
    request = ProposalRequest(
        {"visits": table}, folder, name="Visits", seed=7, ledger={"remember": False}
    )
    file = folder / "sfumato.toml"
    file.write_text(f"{propose(request).text}\n# a comment of mine\n")
    return file


def signable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project as `init` proposes it, of a person who has no ledger yet."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "project"
    folder.mkdir()
    request = ProposalRequest({"visits": visits(folder / "visits.csv", 300)}, folder, seed=7)
    made = folder / "sfumato.toml"
    text = propose(request).text.replace('["csv"]', '["csv"]\nreport = "json"')
    # What is learned of so few people is more than of many.
    text = text.replace("\n[outputs]", "\n[limits]\nlearned = 1.0\n\n[outputs]")
    made.write_text(f"{text}\n# a comment of mine\n")
    return made


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    """A workbench with a project."""
    folder = tmp_path_factory.mktemp("workbench")
    with workbench(folder, [project(folder / "project")]) as made:
        yield made


@pytest.fixture(scope="module")
def browser(chromium: Path) -> Iterator[Any]:
    """A browser for all journeys."""
    with launched(chromium) as found:
        yield found


@pytest.fixture
def context(browser: Any) -> Iterator[Any]:
    """A browser that knows nothing; its pages have no fault, and load nothing from elsewhere."""
    made = browser.new_context(viewport={"width": 1280, "height": 900})
    made.set_default_timeout(1000 * min(PATIENCE, 90))
    faults: list[str] = []
    made.on("console", lambda said: said.type == "error" and faults.append(said.text))
    made.on("weberror", lambda error: faults.append(str(error.error)))
    made.asked = []

    def note(request: Any) -> None:
        made.asked.append(request)

    made.on("request", note)
    made.expected_faults, made.expected_hosts = 0, 1
    yield made
    assert len(faults) == made.expected_faults, faults
    hosts = {request.url.split("/")[2] for request in made.asked if "://" in request.url}
    assert len(hosts) <= made.expected_hosts, hosts
    made.close()
