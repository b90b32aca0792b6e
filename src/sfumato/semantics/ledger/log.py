"""The chain of entries in the file: add one, read them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from sfumato.core.chain import START, Head, follow, is_signed
from sfumato.core.errors import InputError
from sfumato.semantics.ledger.database import has_its_tables
from sfumato.semantics.ledger.faults import said_clearly
from sfumato.semantics.ledger.keys import LedgerKeys
from sfumato.semantics.ledger.parts import Part, array_of, is_whole
from sfumato.semantics.ledger.rows import (
    SIGNER,
    Entry,
    add_entry,
    add_part,
    all_entries,
    last_entry,
    next_entry,
    one_entry,
    pieces_of,
)

CHANGED = "its tables or triggers were changed"


@dataclass(frozen=True, eq=False)
class Log:
    """The entries of a file.

    Attributes
    ----------
    connection
        The open file.
    name
        Its name, for errors.
    keys
        What signs the entries.
    """

    connection: sqlite3.Connection
    name: str
    keys: LedgerKeys

    def check_key(self) -> None:
        """Refuse a key that did not sign the first entry.

        Raises
        ------
        InputError
            If another one did.
        """
        with said_clearly(self.name):
            first = one_entry(self.connection, 1)
        if first is None or not is_signed(first.link, self.keys.check()):
            raise InputError(
                f"ledger {self.name}",
                "must begin with an entry that its own key signed",
                found="no first entry" if first is None else "one that this key did not sign",
                advice="give the folder of its own keys; with those, the ledger was rewritten",
            )

    def head(self) -> Head:
        """The last entry."""
        with said_clearly(self.name):
            last = last_entry(self.connection)
        return Head(last.number, last.digest) if last else Head(0, START)

    def append(
        self, kind: str, actor: str, detail: Mapping[str, object], parts: Sequence[Part] = ()
    ) -> Entry:
        """Add an entry, whole or not at all.

        Parameters
        ----------
        kind, actor, detail
            What it holds.
        parts
            Its arrays.

        Raises
        ------
        InputError
            If the file is locked, full or damaged, or its last entry was changed.
        """
        check_text(actor)
        described = {part.name: part.described() for part in parts}
        with self.changing():
            if not has_its_tables(self.connection):
                raise self.not_whole(CHANGED)
            last = last_entry(self.connection)
            if last is None or not is_signed(last.link, self.keys.check()):
                raise self.not_whole("a last entry that was changed, or none")
            head = Head(last.number, last.digest)
            entry = next_entry(head, kind, actor, {**detail, "parts": described}, self.keys)
            add_entry(self.connection, entry)
            for part in parts:
                add_part(self.connection, entry.number, part)
        return entry

    def entries(self) -> list[Entry]:
        """All entries, their chain checked (their arrays are when they are read).

        Raises
        ------
        InputError
            If an entry was changed, left out or moved.
        """
        with said_clearly(self.name):
            if not has_its_tables(self.connection):
                raise self.not_whole(CHANGED)
            entries = list(all_entries(self.connection))
        verdict = follow((each.link for each in entries), self.keys.check(), "ledger", SIGNER)
        if not verdict.whole:
            raise self.not_whole(verdict.fault)
        return entries

    def entry(self, number: int) -> Entry | None:
        """An entry, checked against its own signature; ``None`` where there is none.

        Parameters
        ----------
        number
            The entry.

        Raises
        ------
        InputError
            If it was changed.
        """
        with said_clearly(self.name):
            entry = one_entry(self.connection, number)
        if entry is not None and not is_signed(entry.link, self.keys.check()):
            raise self.not_whole(f"entry {number} was changed")
        return entry

    def parts(self, number: int, names: Sequence[str]) -> list[npt.NDArray[Any]]:
        """Arrays of an entry, checked against what was signed.

        Parameters
        ----------
        number
            The entry.
        names
            The arrays.

        Raises
        ------
        InputError
            If the entry or an array was changed.
        """
        entry = self.entry(number)
        if entry is None:
            raise self.not_whole(f"entry {number} is missing")
        with said_clearly(self.name):
            contents = [list(pieces_of(self.connection, number, name)) for name in names]
        described, arrays = entry.details["parts"], []
        for name, pieces in zip(names, contents, strict=True):
            if not is_whole(pieces, described[name]):
                raise self.not_whole(f"entry {number} was changed")
            arrays.append(array_of(pieces, described[name]))
        return arrays

    def not_whole(self, fault: str) -> InputError:
        """The error for a ledger that somebody has changed.

        Parameters
        ----------
        fault
            What is wrong.
        """
        return InputError(
            f"ledger {self.name}",
            "must be whole",
            found=fault,
            advice="see 'sfumato ledger verify', and restore it from its backup",
        )

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Append all entries of the block together, or none of them where it fails.

        Yields
        ------
        None
            While nobody else may append.

        Raises
        ------
        InputError
            If the file is locked, full or damaged.
        """
        begun: bool = self.connection.in_transaction
        if begun:
            yield
            return
        with said_clearly(self.name):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.connection.execute("COMMIT")
            finally:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")


def check_text(actor: str) -> None:
    """Refuse a name that is no text, such as bytes of another encoding on the command line.

    Parameters
    ----------
    actor
        Who acts.

    Raises
    ------
    InputError
        If it cannot be written as UTF-8.
    """
    try:
        actor.encode()
    except UnicodeEncodeError:
        raise InputError(
            "the name of who asks or decides", "must be text", found="bytes of another encoding"
        ) from None
