"""``sfumato ledger``: what it lists, shows, verifies and decides, and what it refuses."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from semantics.ledgers import association, entry, members, opened

COUNT = 5


def numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def folders(tmp_path: Path) -> dict[str, str]:
    """Where the ledger and its keys are, as the environment says it."""
    return {
        "SFUMATO_LEDGER": str(tmp_path / "book" / "ledger.sqlite"),
        "SFUMATO_LEDGER_KEYS": str(tmp_path / "keys"),
    }


@pytest.fixture
def ledger(
    run: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Any]:
    """Run ``sfumato ledger`` on a ledger of two releases and two associations."""
    with opened(tmp_path) as made:
        made.append(entry(), members=members())
        made.propose([association(1), replace(association(2), confidence=0.9)], "miner")
        made.append(entry(purpose="a second look", requester="canary-requester", linkage="other"))
        made.decide([association(2).id], "reject", "noise", "carol")

    def call(*words: str, **environment: str) -> Any:
        with monkeypatch.context() as patch:
            for name, value in {**folders(tmp_path), **environment}.items():
                patch.setenv(name, value)
            return run("ledger", *words)

    return call


def test_releases_are_listed(ledger: Callable[..., Any]) -> None:
    done = ledger("list")
    assert (done.code, done.err) == (0, "")
    head, first, second = done.out.splitlines()
    assert head.split()[:3] == ["number", "time", "requester"]
    assert first.split()[0] == "2"
    assert first.split()[-3:] == ["0.3333", "0.25", "yes"]
    assert "clinic-registry" in first
    assert second.split()[-1] == "no"
    chosen = json.loads(ledger("list", "--linkage", "other", "--json").out)
    assert [(each["number"], each["digests"]) for each in chosen] == [(4, False)]
    assert ledger("list", "--requester", "nobody").out == "No releases.\n"


@pytest.mark.slow
def test_a_process_of_its_own_says_and_keeps_the_same(
    ledger: Callable[..., Any], run_process: Callable[..., Any], tmp_path: Path
) -> None:
    def process(*words: str) -> Any:
        return run_process("ledger", *words, **folders(tmp_path))

    assert process("list") == ledger("list")
    name = ledger("associations", "list").out.splitlines()[1].split()[0]
    done = process("associations", "accept", name, "--note", "well known", "--by", "carol")
    assert (done.code, done.err) == (0, "")
    assert process("verify") == ledger("verify")
    assert "6 entries" in ledger("verify").out


def test_a_release_is_shown_and_its_tuples_when_asked(ledger: Callable[..., Any]) -> None:
    done = ledger("show", "2")
    assert (done.code, done.err) == (0, "")
    assert "study of diabetes" in done.out
    assert "2 on language, ethnicity" in done.out
    assert "Mandarin" not in done.out
    lines = ledger("show", "2", "--show-values").out.splitlines()
    assert any(line.endswith(" 2") and "7104 Mandarin" in line for line in lines)
    assert "not claimed" in ledger("show", "4").out
    found = json.loads(ledger("show", "2", "--show-values", "--json").out)
    assert sum(each["count"] for each in found["shown"]) == 6
    assert "shown" not in json.loads(ledger("show", "2", "--json").out)


def test_what_is_noted_does_not_steer_the_terminal(
    ledger: Callable[..., Any], tmp_path: Path
) -> None:
    with opened(tmp_path) as made:
        made.append(entry(requester="a\x1b[2Jb", purpose="c\nRelease  9"))
    assert "a?[2Jb" in ledger("list").out
    shown = ledger("show", "6").out
    assert "a?[2Jb" in shown
    assert "c?Release  9" in shown


def test_an_entry_that_is_no_release_is_refused(ledger: Callable[..., Any]) -> None:
    for number in ("1", "3", "99"):
        done = ledger("show", number)
        assert (done.code, done.out) == (1, "")
        assert f"entry {number} must" in done.err


def test_a_ledger_is_verified_against_a_head(ledger: Callable[..., Any], tmp_path: Path) -> None:
    head = ledger("checkpoint").out.strip()
    done = ledger("verify", "--against", head)
    whole, printed = done.out.splitlines()
    assert (done.code, numbers(whole), printed.split()[-1]) == (0, [5], head)
    done = ledger("verify", "--against", "5:x")
    assert done.code == 1
    assert "'sfumato ledger checkpoint'" in done.err
    done = ledger("verify", "--against", f"9:{'0' * 64}")
    assert (done.code, done.out) == (2, "")
    assert numbers(done.err) == [5, 9]
    connection = sqlite3.connect(tmp_path / "book" / "ledger.sqlite")
    connection.execute("DROP TRIGGER entry_update")
    connection.execute("UPDATE entry SET actor = 'canary' WHERE number = 4")
    connection.commit()
    connection.close()
    done = ledger("verify")
    assert (done.code, done.out) == (2, "")
    assert "not whole" in done.err
    done = ledger("list")
    assert done.code == 1
    assert "triggers" in done.err
    assert "canary" not in done.err


def test_associations_are_reviewed(ledger: Callable[..., Any]) -> None:
    head, first, second = ledger("associations", "list").out.splitlines()
    assert head.split()[:2] == ["id", "state"]
    name = first.split()[0]
    assert first.split()[1:6] == ["proposed", "10", "%", "95", "%"]
    assert numbers(first.partition(" -> ")[2]) == [6101]
    assert second.split()[1] == "rejected"
    assert second.endswith("noise")
    done = ledger("associations", "accept", name, "--note", "well known", "--by", "carol")
    assert (done.code, done.out.split()[:3]) == (0, [name, "is", "accepted:"])
    done = ledger("associations", "reject", name, "--note", "no", SFUMATO_CUSTODIAN="olga")
    assert done.code == 0
    rejected = json.loads(ledger("associations", "list", "--state", "rejected", "--json").out)
    assert [(each["by"], each["note"]) for each in rejected] == [("olga", "no"), ("carol", "noise")]
    assert ledger("associations", "list", "--state", "accepted").out == "No associations.\n"
    assert "7 entries" in ledger("verify").out


def test_decisions_want_a_note_a_name_and_a_known_id(ledger: Callable[..., Any]) -> None:
    decide = ("associations", "accept", "0" * 12)
    assert "0" * 12 not in ledger("associations", "list").out
    assert ledger(*decide, "--note", "x", "--by", "x").code == 1
    assert "--note" in ledger(*decide, "--by", "x").err
    assert "--by" in ledger(*decide, "--note", "x").err
    assert "--state" in ledger("associations", "list", "--state", "canary").err


def test_a_ledger_that_is_missing_is_said_and_not_made(
    ledger: Callable[..., Any], tmp_path: Path
) -> None:
    missing = str(tmp_path / "none" / "ledger.sqlite")
    for words in (("list",), ("show", "2"), ("verify",), ("checkpoint",), ("associations", "list")):
        done = ledger(*words, "--ledger", missing)
        assert (done.code, done.out) == (1, "")
        assert "ledger.sqlite" in done.err
    done = ledger("list", "--keys", str(tmp_path / "none"))
    assert done.code == 1
    assert "signing.key" in done.err
    assert not (tmp_path / "none").exists()
    done = ledger("list", "--keys", str(tmp_path / "book"))
    assert done.code == 1
    assert "outside" in done.err


def test_help_lists_the_commands(ledger: Callable[..., Any]) -> None:
    done = ledger("--help")
    for name in ("list", "show", "verify", "checkpoint", "associations"):
        assert name in done.out
