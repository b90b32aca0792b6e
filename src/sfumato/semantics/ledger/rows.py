"""The rows of the file: entries, and the pieces of their arrays."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sfumato.core.chain import Head, Link, detail_text, digest_of
from sfumato.semantics.ledger.keys import LedgerKeys
from sfumato.semantics.ledger.parts import Part

SIGNER = "the ledger's key"


class Entry(NamedTuple):
    """A row of the table of entries."""

    number: int
    time: str
    kind: str
    actor: str
    detail: str
    previous: str
    digest: str
    signature: str

    @property
    def link(self) -> Link:
        """What binds it to the entry before."""
        fields = (self.number, self.time, self.kind, self.actor, self.detail, self.previous)
        return Link(self.number, self.previous, self.digest, self.signature, digest_of(*fields))

    @property
    def details(self) -> dict[str, Any]:
        """What it holds."""
        found: dict[str, Any] = json.loads(self.detail)
        return found


def next_entry(
    last: Head, kind: str, actor: str, detail: Mapping[str, object], keys: LedgerKeys
) -> Entry:
    """The entry that follows another one, signed.

    Parameters
    ----------
    last
        The entry before.
    kind, actor, detail
        What it holds.
    keys
        Whose key signs it.
    """
    number, text = last.number + 1, detail_text(detail)
    time = datetime.now(UTC).isoformat(timespec="microseconds")
    digest = digest_of(number, time, kind, actor, text, last.digest)
    signature = keys.sign(bytes.fromhex(digest)).hex()
    return Entry(number, time, kind, actor, text, last.digest, digest, signature)


def add_entry(connection: sqlite3.Connection, entry: Entry) -> None:
    """Write an entry, in the transaction that is open."""
    connection.execute("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?)", entry)


def add_part(connection: sqlite3.Connection, number: int, part: Part) -> None:
    """Write an array of an entry, in the transaction that is open."""
    for place, piece in enumerate(part.pieces()):
        fields = (number, part.name, place, piece)
        connection.execute("INSERT INTO part VALUES (?, ?, ?, ?)", fields)


def all_entries(connection: sqlite3.Connection) -> Iterator[Entry]:
    """Every entry, in order."""
    for row in connection.execute("SELECT * FROM entry ORDER BY number"):
        yield Entry(*row)


def one_entry(connection: sqlite3.Connection, number: int) -> Entry | None:
    """An entry by its number."""
    row = connection.execute("SELECT * FROM entry WHERE number = ?", [number]).fetchone()
    return Entry(*row) if row else None


def last_entry(connection: sqlite3.Connection) -> Entry | None:
    """The entry with the greatest number."""
    row = connection.execute("SELECT * FROM entry ORDER BY number DESC LIMIT 1").fetchone()
    return Entry(*row) if row else None


def pieces_of(connection: sqlite3.Connection, number: int, name: str) -> Iterator[bytes]:
    """The pieces of an array, in order."""
    found = connection.execute(
        "SELECT content FROM part WHERE entry = ? AND name = ? ORDER BY piece", [number, name]
    )
    for (content,) in found:
        yield content
