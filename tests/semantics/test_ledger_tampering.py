"""The ledger: everything done to it afterwards is found."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from semantics.ledgers import association, entry, members, opened

from sfumato.core.chain import START, Head, Verdict, digest_of, parse_head
from sfumato.core.errors import InputError
from sfumato.core.secret_keys import make_key
from sfumato.ledger.ledger_store import OBJECTS, LedgerKeys

COUNT = 6
Change = Callable[[sqlite3.Connection], object]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A ledger of six entries: releases with digests, associations, a decision."""
    with opened(tmp_path) as ledger:
        ledger.append(entry(), members=members())
        ledger.propose([association()], "miner")
        ledger.decide([association().id], "accept", "why", "carol")
        ledger.append(entry(associations=(association(),)))
        ledger.append(entry(purpose="other"), members=members())
    return tmp_path


def tamper(folder: Path, change: Change) -> None:
    """Change the file as somebody would who can write to it, triggers put back."""
    connection = sqlite3.connect(folder / "book" / "ledger.sqlite")
    for name in OBJECTS:
        if name not in {"entry", "part"}:
            connection.execute(f"DROP TRIGGER {name}")
    change(connection)
    for name, text in OBJECTS.items():
        if name not in {"entry", "part"}:
            connection.execute(text)
    connection.commit()
    connection.close()


def check(folder: Path, against: Head | None = None) -> Verdict:
    with opened(folder, make=False, anchored=False) as ledger:
        return ledger.verify(against)


def entries(verdict: Verdict) -> list[int]:
    """The numbers of the entries that a verdict names."""
    assert not verdict.whole
    return [int(number) for number in re.findall(r"\d+", verdict.fault)]


def kept(folder: Path) -> Head:
    with opened(folder, make=False) as ledger:
        return ledger.head()


def sql(text: str, *values: object) -> Change:
    return lambda connection: connection.execute(text, values)


def test_a_whole_ledger_is_whole(folder: Path) -> None:
    verdict = check(folder, kept(folder))
    assert (verdict.whole, verdict.entries, verdict.head) == (True, COUNT, kept(folder))
    assert parse_head(f" {verdict.head}\n", "sfumato ledger checkpoint") == verdict.head


@pytest.mark.parametrize("number", [2, 4, COUNT])
@pytest.mark.parametrize(
    "field", ["time", "kind", "actor", "detail", "previous", "digest", "signature"]
)
def test_a_changed_field_is_found(folder: Path, field: str, number: int) -> None:
    change = f"UPDATE entry SET {field} = substr({field}, 2) || '0' WHERE number = ?"
    tamper(folder, sql(change, number))
    verdict = check(folder)
    assert f"entry {number}" in verdict.fault
    assert verdict.entries == number - 1
    with (
        opened(folder, make=False, anchored=False) as ledger,
        pytest.raises(InputError, match="must be whole"),
    ):
        ledger.releases()
    if number == COUNT:
        with pytest.raises(InputError, match="must be whole"):
            opened(folder, make=False)


@pytest.mark.parametrize("part", ["values", "codes", "counts", "persons", "tuples"])
def test_a_changed_array_is_found_and_not_read(folder: Path, part: str) -> None:
    change = "UPDATE part SET content = zeroblob(length(content)) WHERE name = ? AND entry = 2"
    tamper(folder, sql(change, part))
    assert check(folder).fault == "entry 2 was changed"
    with opened(folder, make=False) as ledger:
        read = ledger.tuples if part in {"values", "codes", "counts"} else ledger.digests
        with pytest.raises(InputError, match="entry 2 was changed"):
            read(2)


def _swap(connection: sqlite3.Connection) -> None:
    for old, new in ((3, 100), (4, 3), (100, 4)):
        connection.execute("UPDATE entry SET number = ? WHERE number = ?", (new, old))


def _renumber(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM entry WHERE number = 3")
    for table, column in (("entry", "number"), ("part", "entry")):
        for number in range(4, COUNT + 1):
            connection.execute(
                f"UPDATE {table} SET {column} = {column} - 1 WHERE {column} = ?", [number]
            )


def _repeat(connection: sqlite3.Connection) -> None:
    connection.execute(
        "INSERT INTO entry SELECT 7, time, kind, actor, detail, previous, digest, signature "
        "FROM entry WHERE number = 6"
    )


@pytest.mark.parametrize(
    "change",
    [
        sql("DELETE FROM entry WHERE number = 4"),
        _renumber,
        _swap,
        _repeat,
        sql("UPDATE entry SET detail = 'no JSON' WHERE number = 4"),
        sql("UPDATE entry SET signature = 'no digits' WHERE number = 4"),
        sql("DELETE FROM part WHERE entry = 2 AND name = 'persons'"),
        sql("UPDATE part SET entry = 5 WHERE entry = 2 AND name = 'persons'"),
        sql("UPDATE part SET name = 'more' WHERE entry = 2 AND name = 'persons'"),
        sql("INSERT INTO part VALUES (3, 'more', 0, x'00')"),
        sql("INSERT INTO part VALUES (99, 'codes', 0, x'00')"),
        sql("INSERT INTO part VALUES (2, 'codes', 1, x'00')"),
    ],
)
def test_left_out_moved_and_repeated_rows_are_found(folder: Path, change: Change) -> None:
    tamper(folder, change)
    assert not check(folder).whole


@pytest.mark.parametrize("name", [name for name in OBJECTS if name not in {"entry", "part"}])
def test_a_trigger_that_is_gone_is_found(folder: Path, name: str) -> None:
    connection = sqlite3.connect(folder / "book" / "ledger.sqlite")
    connection.execute(f"DROP TRIGGER {name}")
    connection.commit()
    connection.close()
    assert entries(check(folder)) == []


def test_text_that_is_none_is_found(folder: Path) -> None:
    tamper(folder, sql("UPDATE entry SET actor = CAST(x'ff63616e617279' AS TEXT) WHERE number = 4"))
    with pytest.raises(InputError, match="found a damaged file") as refused:
        check(folder)
    assert "canary" not in str(refused.value)


def test_tables_of_other_types_are_found(folder: Path) -> None:
    def loosen(connection: sqlite3.Connection) -> None:
        connection.execute("ALTER TABLE entry RENAME TO old")
        connection.execute(OBJECTS["entry"].replace(" STRICT", ""))
        connection.execute("INSERT INTO entry SELECT * FROM old")
        connection.execute("DROP TABLE old")
        connection.execute("UPDATE entry SET signature = x'00' WHERE number = 4")

    tamper(folder, loosen)
    assert entries(check(folder)) == []
    with opened(folder) as ledger:
        for work in (ledger.releases, ledger.associations, lambda: ledger.append(entry())):
            with pytest.raises(InputError, match="tables or triggers were changed"):
                work()


def test_a_digest_made_anew_does_not_help(folder: Path) -> None:
    def rewrite(connection: sqlite3.Connection) -> None:
        row = connection.execute("SELECT * FROM entry WHERE number = 6").fetchone()
        digest = digest_of(*row[:4], "no JSON", row[5])
        connection.execute(
            "UPDATE entry SET detail = 'no JSON', digest = ? WHERE number = 6", [digest]
        )

    tamper(folder, rewrite)
    assert entries(check(folder)) == [6]


def test_a_ledger_without_its_first_entry_is_refused(folder: Path) -> None:
    tamper(folder, sql("DELETE FROM entry WHERE number = 1"))
    with pytest.raises(InputError, match="must begin with an entry that its own key signed"):
        opened(folder)


def _cut(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM entry WHERE number > 4")
    connection.execute("DELETE FROM part WHERE entry > 4")


def test_a_ledger_that_was_cut_off_is_found_by_a_head_that_was_kept(folder: Path) -> None:
    head = kept(folder)
    tamper(folder, _cut)
    assert check(folder).whole, "what is left is a whole ledger"
    assert entries(check(folder, head)) == [4, 6]


def test_a_ledger_that_went_on_fits_a_head_that_was_kept(folder: Path) -> None:
    head = kept(folder)
    with opened(folder) as ledger:
        ledger.append(entry())
    assert check(folder, head).whole


def test_a_new_ledger_in_the_place_of_the_old_one_is_found(folder: Path) -> None:
    head = kept(folder)
    shutil.rmtree(folder / "book")
    with pytest.raises(InputError, match="one that is missing"):
        opened(folder)
    next((folder / "keys").glob("*.head")).unlink()
    with opened(folder) as ledger:
        for _ in range(COUNT + 1):
            ledger.append(entry())
    assert check(folder).whole, "it cannot be told without the head"
    assert entries(check(folder, head)) == [6]


def _resigned(keys: LedgerKeys, since: int) -> Change:
    """Change an entry and make every digest and signature from it on anew."""

    def change(connection: sqlite3.Connection) -> None:
        previous = START
        for row in connection.execute("SELECT * FROM entry ORDER BY number").fetchall():
            number, time, kind, actor, detail, _, digest, _ = row
            if number >= since:
                found: dict[str, Any] = json.loads(detail)
                detail = json.dumps({**found, "purpose": "another"})
                digest = digest_of(number, time, kind, actor, detail, previous)
                signature = keys.signer.sign(bytes.fromhex(digest)).hex()
                connection.execute(
                    "UPDATE entry SET detail = ?, previous = ?, digest = ?, signature = ? "
                    "WHERE number = ?",
                    (detail, previous, digest, signature, number),
                )
            previous = digest

    return change


def test_a_ledger_rewritten_with_another_key_is_found(folder: Path) -> None:
    make_key(folder / "other.key")
    other = LedgerKeys(folder, (folder / "other.key").read_bytes())
    tamper(folder, _resigned(other, 3))
    assert entries(check(folder)) == [3]
    tamper(folder, _resigned(other, 1))
    with pytest.raises(InputError, match="one that this key did not sign"):
        opened(folder)


def test_a_ledger_rewritten_with_its_key_is_found_by_a_head_that_was_kept(folder: Path) -> None:
    head = kept(folder)
    own = LedgerKeys(folder, (folder / "keys" / "signing.key").read_bytes())
    tamper(folder, _resigned(own, 3))
    assert check(folder).whole, "it cannot be told without the head"
    assert entries(check(folder, head)) == [6]
    assert not check(folder, replace(head, number=7)).whole


def test_nothing_is_added_to_a_last_entry_that_was_changed(folder: Path) -> None:
    tamper(folder, sql("UPDATE entry SET actor = 'other' WHERE number = 6"))
    with opened(folder, anchored=False) as ledger:
        with pytest.raises(InputError, match="must be whole"):
            ledger.append(entry())
        assert ledger.head().number == COUNT
