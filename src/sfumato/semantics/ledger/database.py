"""The file of a ledger: SQLite, whose triggers refuse to change or delete an entry."""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
from contextlib import ExitStack
from pathlib import Path

from sfumato.core.errors import InputError
from sfumato.semantics.ledger.faults import not_a_ledger, said_clearly
from sfumato.semantics.ledger.rows import Entry, add_entry

APPLICATION = 0x53664C67
VERSION = 1
_TABLES = {
    "entry": """CREATE TABLE entry (
    number INTEGER PRIMARY KEY,
    time TEXT NOT NULL,
    kind TEXT NOT NULL,
    actor TEXT NOT NULL,
    detail TEXT NOT NULL,
    previous TEXT NOT NULL,
    digest TEXT NOT NULL,
    signature TEXT NOT NULL
) STRICT""",
    "part": """CREATE TABLE part (
    entry INTEGER NOT NULL,
    name TEXT NOT NULL,
    piece INTEGER NOT NULL,
    content BLOB NOT NULL,
    UNIQUE (entry, name, piece)
) STRICT""",
}
_TRIGGERS = {
    f"{table}_{act.lower()}": f"""CREATE TRIGGER {table}_{act.lower()} BEFORE {act} ON {table}
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"""
    for table in _TABLES
    for act in ("UPDATE", "DELETE")
}
OBJECTS = _TABLES | _TRIGGERS
"""The tables and triggers, by name, as SQLite keeps their text."""


def connect(path: Path, wait: float) -> sqlite3.Connection:
    """Open the file of a ledger.

    Parameters
    ----------
    path
        The file.
    wait
        Seconds to wait for other processes.

    Raises
    ------
    InputError
        If it is missing, no ledger, of a newer version, or may be read by others.
    """
    check_there(path)
    if os.name == "posix" and path.stat().st_mode & 0o077:
        raise InputError(
            f"ledger {path.name}",
            "must be readable by its owner only",
            accepted="mode 0600",
            advice=f"chmod 600 {path.name}",
        )
    with said_clearly(path.name):
        connection = _connected(path, wait)
        with ExitStack() as stack:
            stack.callback(connection.close)
            _check_kind(connection, path.name)
            stack.pop_all()
        return connection


def check_there(path: Path) -> None:
    """Refuse a path without a file.

    Raises
    ------
    InputError
        If there is none.
    """
    if not path.is_file():
        raise not_a_ledger(path.name, "a folder" if path.is_dir() else "no such file")


def _connected(path: Path, wait: float) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode=rw"
    return sqlite3.connect(uri, uri=True, timeout=wait, isolation_level=None)


def _check_kind(connection: sqlite3.Connection, name: str) -> None:
    if _pragma(connection, "application_id") != APPLICATION:
        raise not_a_ledger(name, "another file")
    version = _pragma(connection, "user_version")
    if version != VERSION:
        raise not_a_ledger(name, f"version {version} of it where this program knows {VERSION}")
    _settle(connection)


def _settle(connection: sqlite3.Connection) -> None:
    for setting in (
        "journal_mode = WAL",
        "synchronous = FULL",
        "secure_delete = ON",
        "trusted_schema = OFF",
    ):
        connection.execute(f"PRAGMA {setting}")


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def create(path: Path, first: Entry) -> None:
    """Make the file of a new ledger, whole or not at all; one that is there stays.

    Parameters
    ----------
    path
        The file; its mode becomes 0600.
    first
        Its first entry.

    Raises
    ------
    InputError
        If it cannot be made.
    """
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with said_clearly(path.name), contextlib.closing(_connected(part, 0.0)) as connection:
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
            _settle(connection)
            connection.execute("BEGIN IMMEDIATE")
            for text in OBJECTS.values():
                connection.execute(text)
            add_entry(connection, first)
            connection.execute("COMMIT")
        os.link(part, path)
    except FileExistsError:
        return
    except OSError as error:
        raise InputError(
            f"ledger {path.name}",
            "must be in a folder that can be made and written",
            found=os.strerror(error.errno).lower() if error.errno else "a fault",
        ) from None
    finally:
        for end in ("", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                part.with_name(part.name + end).unlink(missing_ok=True)


def has_its_tables(connection: sqlite3.Connection) -> bool:
    """Whether the tables and triggers are those that the ledger was made with."""
    rows = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_autoindex_%'"
    )
    return dict(rows.fetchall()) == OBJECTS
