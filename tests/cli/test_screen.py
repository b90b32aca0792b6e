"""What a command prints about a project has room on a screen: 40 lines of 100 signs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.conftest import Run, done_in, lines_on_a_screen

pytestmark = pytest.mark.slow

NAMES = [f"s{number:02}" for number in range(28)]
ROOM = 40
ANSWERED = ("--by", "the officer (A. Name)", "--because", "a test " * 30, "--until", "2100-01-01")
PROJECT = f"""
[project]
name = "wide"
seed = 1

[sources.visits]
file = "visits.csv"

[schema]
person = "id"
quasi_identifiers = ["age"]
sensitive = {json.dumps(NAMES)}

[release]
pid_k = 3

[attack]

[ledger]
file = "book/ledger.sqlite"
keys = "keys"

[outputs]
report = "json"
"""
BOOK = ("--ledger", "book/ledger.sqlite", "--keys", "keys")
BOOKED = " ".join(BOOK)
COMMANDS = {
    "run": {0, 2, 4},
    "status": {0},
    "run --force nothing": {1},
    "run elsewhere": {1},
    "status elsewhere": {1},
    "accept stranger": {1},
    f"ledger list {BOOKED}": {0},
    f"ledger remembered {BOOKED}": {0},
    f"ledger show 99 {BOOKED}": {1},
    f"ledger verify {BOOKED}": {0},
    f"ledger hand-over 2 --to us {BOOKED}": {0, 1, 2},
    f"ledger hand-over 99 --to us {BOOKED}": {1},
    "ledger": {1},
    "policy": {1},
    "policy check sfumato.toml": {1},
    "account": {1},
    "account reset NAME": {1},
    "audit": {1},
    "audit verify": {1},
    "project": {1},
    "project list": {1},
    "review status .": {1},
    "verify output": {1},
    "sign": {1},
    "tune": {1},
    "tune . --threshold nothing=1": {1},
    "attack output/release/release.csv": {1},
}
"""Commands and how they may end."""


def made(folder: Path, people: int = 30, columns: int = len(NAMES)) -> Path:
    """A project of people with two records each, and as many sensitive columns as are asked for."""
    names = NAMES[:columns]
    rows = [["id", "age", *names]]
    for row in range(2 * people):
        values = (str(row % (2 + place)) for place in range(columns))
        rows.append([f"p{row % people}", str(20 + row % 7), *values])
    (folder / "visits.csv").write_text("\n".join(map(",".join, rows)), encoding="utf-8")
    text = PROJECT.replace(json.dumps(NAMES), json.dumps(names))
    (folder / "sfumato.toml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with 28 sensitive columns that has run."""
    folder = made(tmp_path_factory.mktemp("wide"))
    done_in(folder, "ledger", "create", *BOOK)
    done_in(folder, "run")
    return folder


def fits(run: Run, *words: str) -> int:
    """Run a command, whose output has room on a screen; how it ended."""
    done = run(*words)
    assert done.code < 70, done.err
    assert 0 < lines_on_a_screen(done) <= ROOM, f"{words}\n{done.out}\n{done.err}"
    return done.code


def test_every_command_about_a_project(
    wide: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refusals included; the reasons of acceptances are details."""
    monkeypatch.chdir(wide)
    for name, expected in COMMANDS.items():
        assert fits(run, *name.split()) in expected, name
    told = json.loads(run("status", "--json").out)["verdict"]
    above = [row["intruder"] for row in told["rows"] if row["state"] == "above"]
    assert above
    for row in above[:1]:
        wanted = f"{row}.s00" if row == "insider" else row
        fits(run, "accept", wanted, *ANSWERED)
    assert ANSWERED[3].strip() in " ".join(run("status", "--details").out.split())
    fits(run, "status")
    fits(run, "run")
