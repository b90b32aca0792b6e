"""What SQLite reports, in the words of the ledger and without its messages."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sfumato.core.errors import InputError

_BUSY, _LOCKED, _READ_ONLY, _IO, _CORRUPT, _FULL, _CANNOT_OPEN, _NO_DATABASE = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_NOTADB,
)
_SAID: dict[int, tuple[str, str, str]] = {
    _BUSY: (
        "must not be in use by another process for so long",
        "a lock that was not given up in time",
        "nothing was written; try again when the other process has ended",
    ),
    _READ_ONLY: (
        "must be a file that can be written",
        "a file or folder for reading only",
        "nothing was written",
    ),
    _IO: (
        "must be read and written without faults of the disk",
        "a fault, or no room left",
        "nothing was written; make room, look at the disk, then run 'sfumato ledger verify'",
    ),
    _CORRUPT: (
        "must be whole",
        "a damaged file",
        "restore it from its backup, and verify that against a head that was kept",
    ),
    _FULL: ("must have room on its disk", "a full disk", "nothing was written; make room"),
    _CANNOT_OPEN: ("must be a file that can be opened", "none", ""),
    _NO_DATABASE: ("must be a ledger", "a file of another kind", ""),
}
_SAID[_LOCKED] = _SAID[_BUSY]


@contextmanager
def said_clearly(name: str) -> Iterator[None]:
    """Turn what SQLite raises into errors that say what to do.

    Parameters
    ----------
    name
        The ledger's file.

    Raises
    ------
    InputError
        If SQLite fails.
    ProgrammingError
        If SQLite was called in a way that it does not know: a fault of ours.
    """
    try:
        yield
    except sqlite3.ProgrammingError:
        raise
    except sqlite3.Error as error:
        said = _SAID.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
        rule, found, advice = said or _SAID[_CORRUPT]
        raise InputError(f"ledger {name}", rule, found=found, advice=advice) from None


def not_a_ledger(name: str, found: str) -> InputError:
    """The error for a file that is no ledger."""
    return InputError(
        f"ledger {name}",
        "must be a ledger of sfumato",
        found=found,
        advice="it is made when the first release is noted in it",
    )
