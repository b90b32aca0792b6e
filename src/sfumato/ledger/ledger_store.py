"""The database of a ledger: its rows, its keys, and what is wrong with it."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sfumato.core.chain import Head, Link, detail_text, made_by, next_row
from sfumato.core.errors import InputError
from sfumato.core.secret_keys import make_key, read_key

# A choice: verifying holds one piece in memory at a time.
PIECE_BYTES = 1 << 25
"""Bytes of a piece; SQLite holds up to a thousand million in one cell."""


@dataclass(frozen=True, eq=False)
class Part:
    """An array of an entry, and what it is: ``"counts"``."""

    name: str
    array: npt.NDArray[Any]

    @classmethod
    def of(cls, name: str, array: npt.NDArray[Any]) -> Part:
        """A part of an array of any byte order and layout."""
        # One byte order, as the signed hash must be the same on every machine.
        return cls(name, np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")))

    @property
    def content(self) -> memoryview:
        """The bytes of the values."""
        return self.array.reshape(-1).view(np.uint8).data

    def described(self) -> dict[str, object]:
        """What the entry says, and signs, about it."""
        return {
            "dtype": self.array.dtype.str,
            "shape": list(self.array.shape),
            "sha256": hashlib.sha256(self.content).hexdigest(),
        }

    def pieces(self) -> Iterator[memoryview]:
        """The bytes, piece by piece; one empty piece of an empty array."""
        content = self.content
        # An empty array has a row, too, by whose absence `verify` sees that it was taken away.
        for start in range(0, max(len(content), 1), PIECE_BYTES):
            yield content[start : start + PIECE_BYTES]


def is_whole(pieces: Iterable[bytes], described: Mapping[str, Any]) -> bool:
    """Whether these bytes are those of the part that was signed."""
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest() == described.get("sha256")


def array_of(pieces: Sequence[bytes], described: Mapping[str, Any]) -> npt.NDArray[Any]:
    """The array that a part holds; it cannot be written to."""
    content = pieces[0] if len(pieces) == 1 else b"".join(pieces)
    return np.frombuffer(content, dtype=np.dtype(described["dtype"])).reshape(described["shape"])


_SAID: dict[int, tuple[str, str, str]] = {
    sqlite3.SQLITE_BUSY: (
        "must not be in use by another process for so long",
        "a lock that was not given up in time",
        "nothing was written; try again when the other process has ended",
    ),
    sqlite3.SQLITE_READONLY: (
        "must be a file that can be written",
        "a file or folder for reading only",
        "nothing was written",
    ),
    sqlite3.SQLITE_IOERR: (
        "must be read and written without faults of the disk",
        "a fault, or no room left",
        "nothing was written; make room, look at the disk, then run 'sfumato ledger verify'",
    ),
    sqlite3.SQLITE_CORRUPT: (
        "must be whole",
        "a damaged file",
        "restore it from its backup, and verify that against a head that was kept",
    ),
    sqlite3.SQLITE_FULL: (
        "must have room on its disk",
        "a full disk",
        "nothing was written; make room",
    ),
    sqlite3.SQLITE_CANTOPEN: ("must be a file that can be opened", "none", ""),
    sqlite3.SQLITE_NOTADB: ("must be a ledger", "a file of another kind", ""),
}
_SAID[sqlite3.SQLITE_LOCKED] = _SAID[sqlite3.SQLITE_BUSY]


@contextmanager
def said_clearly(name: str) -> Iterator[None]:
    """Turn what SQLite raises into errors that say what to do; not a ProgrammingError, ours."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise
    except sqlite3.Error as error:
        # The low byte is the kind of error; SQLite says more of it in the others.
        words = _SAID.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
        rule, found, advice = words or _SAID[sqlite3.SQLITE_CORRUPT]
        raise InputError(f"ledger {name}", rule, found=found, advice=advice) from None


def not_a_ledger(name: str, found: str) -> InputError:
    """The error for a file that is no ledger."""
    return InputError(
        f"ledger {name}",
        "must be a ledger of sfumato",
        found=found,
        advice="'sfumato ledger create' makes one, or the path is another",
    )


SIGNING = "signing.key"
PERSONS = "persons.key"
_CHECKED = b"sfumato ledger: which key"


@dataclass(frozen=True)
class LedgerKeys:
    """The keys of a ledger.

    Attributes
    ----------
    folder
        Where they are.
    signing
        Signs the entries, 32 bytes.
    """

    folder: Path
    signing: bytes = field(repr=False)

    def check(self) -> Callable[[bytes, bytes], bool]:
        """A function of (signature, digest): whether this key made the signature."""
        return made_by(self.signer)

    @property
    def signer(self) -> Ed25519PrivateKey:
        """What signs the entries."""
        return Ed25519PrivateKey.from_private_bytes(self.signing)

    def persons(self, *, make: bool) -> bytes:
        """The key of the digests of persons, 32 bytes, made where asked for and there is none."""
        return _key(self.folder, PERSONS, make=make)

    def check_persons(self, noted: str, what: str) -> None:
        """Refuse another key of persons than that, by its `id_of_key`, of what was noted."""
        if id_of_key(self.persons(make=False)) != noted:
            raise InputError(
                f"key {PERSONS}",
                f"must be the key that {what} was noted with",
                found="another key",
                advice="restore it from its backup; people cannot be followed without it",
            )


def load_ledger_keys(folder: Path, ledger: Path, *, make: bool) -> LedgerKeys:
    """The keys of a ledger, in a folder that only its owner may read."""
    if folder.resolve().is_relative_to(ledger.resolve().parent):
        raise InputError(
            f"key folder {folder.name}",
            "must be outside the ledger's folder",
            found="a folder in it",
            advice="who takes a copy of the one must not have the other",
        )
    return LedgerKeys(folder, _key(folder, SIGNING, make=make))


def id_of_key(key: bytes) -> str:
    """What tells that two keys are the same, and nothing else, 32 hexadecimal digits."""
    # A keyed hash of a fixed text: the key cannot be worked out from it.
    return hmac.digest(key, _CHECKED, hashlib.sha256)[:16].hex()


def _key(folder: Path, name: str, *, make: bool) -> bytes:
    path = folder / name
    try:
        if make and not path.exists():
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            make_key(path)
        if not path.exists():
            raise InputError(
                f"key folder {folder}",
                f"must hold the ledger's {name}",
                found="none",
                advice="restore it from its backup, or give the folder that holds it",
            )
        return read_key(path)
    except OSError:
        raise InputError(
            f"key folder {folder.name}", "must be a folder that can be read and made"
        ) from None


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
        return Link.of(self)

    @property
    def details(self) -> dict[str, Any]:
        """What it holds."""
        details: dict[str, Any] = json.loads(self.detail)
        return details


def next_entry(
    last: Head,
    kind: str,
    actor: str,
    detail: Mapping[str, object],
    keys: LedgerKeys,
    since: str = "",
) -> Entry:
    """The entry that follows another one, signed; a clock that is set back makes none older."""
    return Entry(*next_row(last, (kind, actor, detail_text(detail)), keys.signer.sign, since))


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


def numbers_of(connection: sqlite3.Connection, kind: str) -> list[int]:
    """The numbers of the entries of a kind, in order."""
    rows = connection.execute("SELECT number FROM entry WHERE kind = ? ORDER BY number", [kind])
    return [number for (number,) in rows]


def pieces_of(connection: sqlite3.Connection, number: int, name: str) -> Iterator[bytes]:
    """The pieces of an array, in order."""
    rows = connection.execute(
        "SELECT content FROM part WHERE entry = ? AND name = ? ORDER BY piece", [number, name]
    )
    for (content,) in rows:
        yield content


def remove_parts(connection: sqlite3.Connection, number: int) -> None:
    """Erase the arrays of an entry, in the transaction that is open.

    Only an entry that says so may follow: a ledger that lacks arrays is not whole without one.
    """
    # The trigger is gone within the transaction only, so that nobody else ever sees it missing.
    connection.execute(f"DROP TRIGGER {_ERASED}")
    connection.execute("DELETE FROM part WHERE entry = ?", [number])
    connection.execute(_TRIGGERS[_ERASED])


# "SfLg" in ASCII, by which a ledger is told from other files of SQLite.
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
# Against slips: who can write the file can drop them, which `has_its_tables` finds.
_TRIGGERS = {
    f"{table}_{act.lower()}": f"""CREATE TRIGGER {table}_{act.lower()} BEFORE {act} ON {table}
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"""
    for table in _TABLES
    for act in ("UPDATE", "DELETE")
}
_ERASED = "part_delete"
OBJECTS = _TABLES | _TRIGGERS
"""The tables and triggers, by name, as SQLite keeps their text."""


def connect(path: Path, wait: float) -> sqlite3.Connection:
    """Open the file of a ledger, with so many seconds to wait for other processes."""
    check_there(path)
    # Elsewhere a file's mode does not say who may read it.
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
            if _pragma(connection, "application_id") != APPLICATION:
                raise not_a_ledger(str(path), "another file")
            version = _pragma(connection, "user_version")
            if version != VERSION:
                known = f"version {version} of it where this program knows {VERSION}"
                raise not_a_ledger(str(path), known)
            _settle(connection)
            stack.pop_all()
        return connection


def check_there(path: Path) -> None:
    """Refuse a path without a file."""
    if not path.is_file():
        raise not_a_ledger(str(path), "a folder" if path.is_dir() else "no such file")


def _connected(path: Path, wait: float) -> sqlite3.Connection:
    # Not "rwc": a ledger that is missing must be an error, never an empty new file.
    uri = f"{path.absolute().as_uri()}?mode=rw"
    # No implicit transactions: `Log.changing` begins them before it reads what it adds to.
    return sqlite3.connect(uri, uri=True, timeout=wait, isolation_level=None)


# FULL: an entry outlives a power cut. secure_delete: what is erased is overwritten.
# trusted_schema: a file from elsewhere runs no functions.
_SETTINGS = "journal_mode = WAL", "synchronous = FULL", "secure_delete = ON", "trusted_schema = OFF"


def _settle(connection: sqlite3.Connection) -> None:
    for setting in _SETTINGS:
        connection.execute(f"PRAGMA {setting}")


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def create(path: Path, first: Entry) -> None:
    """Make the file of a new ledger, mode 0600, whole or not at all; one that is there stays."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # With its mode from the start: SQLite would make a file that others may read for a moment.
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with said_clearly(path.name), closing(_connected(part, 0.0)) as connection:
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
            _settle(connection)
            connection.execute("BEGIN IMMEDIATE")
            for text in OBJECTS.values():
                connection.execute(text)
            add_entry(connection, first)
            connection.execute("COMMIT")
        # A link and no renaming, which would replace a ledger that another process made meanwhile.
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
            with suppress(OSError):
                part.with_name(part.name + end).unlink(missing_ok=True)


def has_its_tables(connection: sqlite3.Connection) -> bool:
    """Whether the tables and triggers are those that the ledger was made with."""
    rows = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_autoindex_%'"
    )
    return dict(rows.fetchall()) == OBJECTS
