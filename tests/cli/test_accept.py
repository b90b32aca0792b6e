"""A release is judged, written above its limit all the same, and answered for by name."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from cli.conftest import Run

from sfumato.pipeline.project_text import load_project
from sfumato.risk.verdict import Limits, judged_again

PROJECT = """
# What the custodian wrote stays.
[project]
name = "clinic"
seed = 1
controls = "a contract"

[sources.visits]
file = "visits.csv"

[schema]
person = "patient"
insensitive = ["ward", "bill"]
quasi_identifiers = ["age"]
[schema.accepted]
bill = "this is a test"

[release]
pid_k = 11

[ledger]
remember = false

[outputs]
report = "json"
"""
INSIDER, RECIPIENT = ("accept", "insider.bill"), ("accept", "recipient")
SAID = ("--by", "the officer (A. Name)", "--because", "a reason", "--until", "2100-01-01")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Sixty people of two visits each; every bill is of one person."""
    owner = np.repeat(np.arange(60), 2)
    visits = pa.table(
        {
            "patient": owner + 1000,
            "age": 20 + owner % 3,
            "ward": ["a"] * 120,
            "bill": np.random.default_rng(0).permutation(120) + 0.5,
        }
    )
    pyarrow.csv.write_csv(visits, tmp_path / "visits.csv")
    (tmp_path / "sfumato.toml").write_text(PROJECT, encoding="utf-8")
    return tmp_path


def said_of(plain: object) -> Iterator[object]:
    """Each time that plain values say whether something is ready."""
    if isinstance(plain, dict):
        yield from [plain["ready"]] if "ready" in plain else []
    for each in plain.values() if isinstance(plain, dict) else plain:
        if isinstance(each, (dict, list)):
            yield from said_of(each)


def said_in(folder: Path) -> set[object]:
    """What the files say that somebody opens, of outputs and of the release as it was made."""
    found: set[object] = set()
    for place in (folder / "output", folder / "stages" / "release"):
        for file in (each for each in place.rglob("*") if each.name != "measured.json"):
            if file.suffix == ".json":
                found |= {*said_of(json.loads(file.read_text()))}
            elif file.suffix == ".toml":
                found |= {*said_of(tomllib.loads(file.read_text()))}
    return found


def test_a_project_is_ready_once_somebody_answers_for_it(folder: Path, run: Run) -> None:
    first = run("run")
    assert first.code == 2, first.err
    assert (folder / "output" / "release" / "release.csv").is_file()
    plain = json.loads(run("status", "--json").out)["verdict"]
    states = {each["intruder"]: each["state"] for each in plain["rows"]}
    assert states == {
        "insider": "above",
        "recipient": "not measured",
        "acquaintance": "below",
        "stranger": "below",
    }
    # One verdict everywhere: in the terminal, its status, the report and the exit code.
    verdict = judged_again(plain, Limits("contract"), recipient="the ledger is off")
    assert str(verdict) in first.out
    assert str(verdict) in run("status").out
    report = json.loads((folder / "output" / "reports" / "report.json").read_text())
    assert report["verdict"]["headline"] == verdict.headline
    assert verdict.exit_code == first.code
    assert said_in(folder) == {False}
    # The recipient is left: not measured.
    assert run(*INSIDER, *SAID).code == 4
    assert run(*RECIPIENT, *SAID).code == 0
    text = (folder / "sfumato.toml").read_text()
    assert text.startswith(PROJECT.rstrip())
    again = run("run")
    assert again.code == 0, again.err
    assert "A. Name" in again.out
    assert said_in(folder) == {True}
    inside, outside = (
        (folder / "output" / name / "report.json").read_text() for name in ("reports", "public")
    )
    assert "A. Name" in inside
    assert "A. Name" not in outside
    # Nothing but the report was made again.
    assert again.err.count("unchanged") == 2


@pytest.mark.parametrize(
    ("row", "more", "said"),
    [
        ("stranger", (), "needs no acceptance"),
        ("insider.ward", (), "needs no acceptance"),
        ("insider.gone", (), "must be a row"),
        ("insider", (), "must be a row"),
        ("somebody", (), "must be a row"),
        ("insider.bill", ("--at-most", "1.5"), "--at-most"),
    ],
)
def test_what_cannot_be_accepted(
    row: str, more: tuple[str, ...], said: str, folder: Path, run: Run
) -> None:
    assert run("run", "--until", "release").err
    before = (folder / "sfumato.toml").read_text()
    refused = run("accept", row, *SAID, *more)
    assert (refused.code, refused.out) == (1, "")
    assert said in refused.err
    assert (folder / "sfumato.toml").read_text() == before


def test_nothing_is_accepted_before_it_was_measured(folder: Path, run: Run) -> None:
    assert folder.is_dir()
    refused = run(*INSIDER, *SAID)
    assert refused.code == 1
    assert "must have a release" in refused.err


def test_what_was_answered_before_anything_was_measured_covers_what_is_found_first(
    folder: Path, run: Run
) -> None:
    """It covers nothing until then, and no more later."""
    answer = 'by = "officer"\nbecause = "a reason"\nuntil = 2100-01-01\n'
    names = ("acquaintance", "insider.bill")
    text = PROJECT + "".join(f"\n[accept.{name}]\n{answer}" for name in names)
    (folder / "sfumato.toml").write_text(text, encoding="utf-8")
    assert load_project(folder / "sfumato.toml").acceptances == ()
    assert run("run", "--until", "assess").code == 0
    assert (folder / "sfumato.toml").read_text() == text
    # Nothing was measured of the recipient, of whom nobody said anything.
    first = run("run")
    assert first.code == 4, first.err
    assert "at_most" in first.err
    project = load_project(folder / "sfumato.toml")
    covered = {each.column or each.intruder: each.at_most for each in project.acceptances}
    assert covered.keys() == {"acquaintance", "bill"}
    assert covered["bill"]["found"] == 1
    found = json.loads(run("status", "--json").out)["verdict"]
    share = next(each for each in found["rows"] if each["intruder"] == "acquaintance")["found"]
    assert covered["acquaintance"]["found"] == pytest.approx(1.2 * share["value"], abs=1e-4)
    after = (folder / "sfumato.toml").read_text()
    assert run("run", "--force", "release").code == 4
    assert (folder / "sfumato.toml").read_text() == after


@pytest.mark.parametrize("name", ["insider.gone", 'insider."bill + gone"', "insider.age"])
def test_an_answer_for_a_column_that_is_not_there_is_refused(
    name: str, folder: Path, run: Run
) -> None:
    answer = 'by = "officer"\nbecause = "a reason"\nuntil = 2100-01-01\n'
    text = f"{PROJECT}\n[accept.{name}]\n{answer}"
    (folder / "sfumato.toml").write_text(text, encoding="utf-8")
    for words in (("run",), ("tune", "sfumato.toml", "--trials", "1")):
        refused = run(*words)
        assert refused.code == 1
        assert name.replace('"', "") in refused.err
        assert "bill, ward" in refused.err
    assert not (folder / "stages" / "release").exists()


def test_limits_of_controls_need_controls(folder: Path, run: Run) -> None:
    text = PROJECT.replace('controls = "a contract"\n', "") + '\n[limits]\npreset = "room"\n'
    (folder / "sfumato.toml").write_text(text, encoding="utf-8")
    refused = run("run")
    assert refused.code == 1
    assert "controls" in refused.err
