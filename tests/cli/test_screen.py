"""What a command prints about a project has room on a screen: 40 lines of 100 signs."""

from __future__ import annotations

import json
import random
import tomllib
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
    "audit rotate": {1},
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


FILES = {"narrow": 1, "usual": 6, "wide": 28, "wider": 60}
"""Files by their names, with the number of columns beside those about people."""


def _table(columns: int, people: int) -> str:
    """A CSV file of people with two records each, drawn at random."""
    draw = random.Random(columns)
    names = [f"c{place:02}" for place in range(columns)]
    lines = [["first_name", "surname", "birth_date", "sex", *names]]
    for _ in range(people):
        born = f"19{draw.randint(30, 99)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
        called = [draw.choice(("Anna", "Maria", "John", "Paul")), draw.choice(("Smith", "Meier"))]
        about = [*called, born, draw.choice("fm")]
        lines += [[*about, *(str(draw.randint(0, 9)) for _ in names)] for _ in range(2)]
    return "\n".join(map(",".join, lines))


@pytest.mark.parametrize("name", FILES)
def test_every_command_about_a_file(
    name: str, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it releases or refuses; the schema that is printed is the one with all reasons."""
    monkeypatch.chdir(tmp_path)
    file, release = f"{name}.csv", "out/release.csv"
    Path(file).write_text(_table(FILES[name], 60), encoding="utf-8")
    Path("other.csv").write_text(_table(FILES[name], 50), encoding="utf-8")
    Path("bare.csv").write_text(_table(3, 40).partition("\n")[2], encoding="utf-8")
    Path("out").mkdir()
    for words in (("profile",), ("schema", "guess"), ("link", "suggest")):
        assert fits(run, *words, file) in {0, 4}
        assert fits(run, *words, file, "other.csv") in {0, 1, 4}
        assert fits(run, *words, "bare.csv") == 1
        assert fits(run, *words, "none.csv") == 1
    shown, whole = (run("schema", "guess", file, *more).out for more in ((), ("--details",)))
    assert tomllib.loads(shown) == tomllib.loads(whole)
    names = [f"c{place:02}" for place in range(FILES[name])]
    Path("schema.toml").write_text(
        'direct_identifiers = ["first_name", "surname"]\n'
        'quasi_identifiers = {birth_date = "numeric", sex = "categorical"}\n'
        f"sensitive = {json.dumps(names)}\n",
        encoding="utf-8",
    )
    about = ("--schema", "schema.toml")
    assert fits(run, "assess", file, *about, "--report", "r.json", "--preset", "arx") == 0
    asked = ("--pid-k", "3", "--no-cures", "--output", release, "--report", "r.json")
    assert fits(run, "anonymize", file, *about, *asked) in {0, 2}
    assert fits(run, "attack", release, "--original", file, *about, "--report", "r.json") in {0, 2}
    assert fits(run, "anonymize", "bare.csv", *about, *asked) == 1
    assert fits(run, "attack", "none.csv", *about) == 1
