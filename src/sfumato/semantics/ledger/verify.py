"""Check that a ledger is whole: nothing changed, left out, cut off or rewritten."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace

from sfumato.core.chain import START, Head, Link, Verdict, follow, is_signed
from sfumato.semantics.ledger.database import has_its_tables
from sfumato.semantics.ledger.faults import said_clearly
from sfumato.semantics.ledger.log import CHANGED, Log
from sfumato.semantics.ledger.parts import is_whole
from sfumato.semantics.ledger.rows import SIGNER, Entry, all_entries, pieces_of


def verify_log(log: Log, against: Head | None) -> Verdict:
    """Check every entry and its arrays, the tables and the triggers.

    A ledger that was cut off, or rewritten by somebody who holds the signing key, is found only
    by a head that was kept elsewhere.

    Parameters
    ----------
    log
        The entries.
    against
        A head that was kept elsewhere.

    Raises
    ------
    InputError
        If the file is damaged so that SQLite cannot read it.
    """
    connection = log.connection
    with said_clearly(log.name):
        connection.execute("BEGIN")
        try:
            if not has_its_tables(connection):
                return Verdict(0, CHANGED, Head(0, START))
            signed = log.keys.check()
            verdict = follow(_links(connection, signed), signed, "ledger", SIGNER, against)
            if verdict.whole and _has_strays(connection):
                return replace(verdict, fault="it holds arrays of no entry")
            return verdict
        finally:
            connection.execute("ROLLBACK")


def _links(
    connection: sqlite3.Connection, signed: Callable[[bytes, bytes], bool]
) -> Iterator[Link]:
    for entry in all_entries(connection):
        link = entry.link
        if is_signed(link, signed) and not _has_its_parts(connection, entry):
            link = replace(link, made="")
        yield link


def _has_its_parts(connection: sqlite3.Connection, entry: Entry) -> bool:
    described = entry.details["parts"]
    rows = connection.execute("SELECT DISTINCT name FROM part WHERE entry = ?", [entry.number])
    return {name for (name,) in rows} == set(described) and all(
        is_whole(pieces_of(connection, entry.number, name), described[name]) for name in described
    )


def _has_strays(connection: sqlite3.Connection) -> bool:
    found = connection.execute(
        "SELECT 1 FROM part WHERE entry NOT IN (SELECT number FROM entry) LIMIT 1"
    )
    return found.fetchone() is not None
