"""The entries of a ledger: appended whole or not at all, read only where they are whole."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy.typing as npt

from sfumato.core.chain import START, Head, Link, Verdict, follow, is_signed
from sfumato.core.errors import InputError
from sfumato.ledger import ledger_store
from sfumato.ledger.head_anchor import Anchor, check_new

REGISTERED = "registered"
CHANGED = "its tables or triggers were changed"
ERASED = "erased"
"""Under this an entry names those whose arrays were erased with it."""


@dataclass(frozen=True, eq=False)
class Log:
    """The entries of a file, and a file elsewhere that holds its head beside its own one."""

    connection: sqlite3.Connection
    path: Path
    keys: ledger_store.LedgerKeys
    elsewhere: Path | None = None
    _checked: list[ledger_store.Entry] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Its name, for errors."""
        return self.path.name

    def anchor(self) -> Anchor:
        """Where its head is kept: beside its keys, and in the file that it was registered with."""
        with ledger_store.said_clearly(self.name):
            numbers = ledger_store.numbers_of(self.connection, REGISTERED)
        # The first entry names the ledger; the last registration may have moved its head elsewhere.
        registrations = [
            each.details for each in map(self.entry, (1, *numbers[-1:])) if each is not None
        ]
        elsewhere = registrations[-1].get("head") if registrations else None
        places = (None if elsewhere is None else Path(elsewhere), self.elsewhere)
        return Anchor(
            self.keys.folder,
            registrations[0]["id"] if registrations else "",
            self.path,
            tuple(dict.fromkeys(place.resolve() for place in places if place is not None)),
        )

    def check_anchor(self) -> None:
        """Refuse a ledger that its keys have seen further on, or that is another one."""
        anchor = self.anchor()
        anchor.check_other()
        for head in anchor.heads():
            entry = self.entry(head.number)
            if entry is None or entry.digest != head.digest:
                raise InputError(
                    f"ledger {self.name}",
                    f"must hold entry {head.number}, as it did before",
                    found="none" if entry is None else "another one",
                    advice="it is an older copy, was cut off or rewritten: restore the last one; "
                    "who goes on with this one on purpose says so with 'sfumato ledger register'",
                )

    def register(self, note: str, by: str, head: Path | None) -> None:
        """Note that the ledger goes on as it is, and let its keys know it so.

        A file that holds its head as well from now on may be named.
        """
        before = self.anchor()
        if head is not None and head.resolve() not in before.elsewhere:
            check_new(head, self.path, self.keys.folder)
        anchor = replace(before, elsewhere=before.elsewhere if head is None else (head.resolve(),))
        kept = anchor.last()
        # Before the entry: `keep` never goes back, so a head that was further on would stay.
        anchor.forget()
        detail: dict[str, object] = {"note": note, "kept": "" if kept is None else str(kept)}
        if anchor.elsewhere:
            detail["head"] = str(anchor.elsewhere[0])
        self.append(REGISTERED, by, detail)

    def check_key(self) -> None:
        """Refuse a key that did not sign the first entry."""
        with ledger_store.said_clearly(self.name):
            first = ledger_store.one_entry(self.connection, 1)
        if first is None or not is_signed(first.link, self.keys.check()):
            raise InputError(
                f"ledger {self.name}",
                "must begin with an entry that its own key signed",
                found="no first entry" if first is None else "one that this key did not sign",
                advice="give the folder of its own keys; with those, the ledger was rewritten",
            )

    def head(self) -> Head:
        """The last entry."""
        with ledger_store.said_clearly(self.name):
            last = ledger_store.last_entry(self.connection)
        return Head(last.number, last.digest) if last else Head(0, START)

    def append(
        self,
        kind: str,
        actor: str,
        detail: Mapping[str, object],
        parts: Sequence[ledger_store.Part] = (),
        erased: Sequence[int] = (),
    ) -> ledger_store.Entry:
        """Add an entry, whole or not at all, and erase the arrays of others, as it says."""
        check_text(actor)
        described = {part.name: part.described() for part in parts}
        details = {**detail, "parts": described} | ({ERASED: sorted(erased)} if erased else {})
        with self.changing():
            if not ledger_store.has_its_tables(self.connection):
                raise self.not_whole(CHANGED)
            # Read within the transaction: two processes must not follow the same entry.
            last = ledger_store.last_entry(self.connection)
            # A signature on top of a changed entry would vouch for the change.
            if last is None or not is_signed(last.link, self.keys.check()):
                raise self.not_whole("a last entry that was changed, or none")
            head = Head(last.number, last.digest)
            entry = ledger_store.next_entry(head, kind, actor, details, self.keys, last.time)
            ledger_store.add_entry(self.connection, entry)
            for number in erased:
                ledger_store.remove_parts(self.connection, number)
            for part in parts:
                ledger_store.add_part(self.connection, entry.number, part)
        return entry

    @contextmanager
    def erasing(self) -> Iterator[None]:
        """As `changing`; what the block erases is overwritten in the file as well."""
        with self.changing():
            yield
        with ledger_store.said_clearly(self.name):
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # out of its log, too

    def entries(self) -> list[ledger_store.Entry]:
        """All entries, their chain checked (their arrays are when they are read)."""
        with ledger_store.said_clearly(self.name):
            if not ledger_store.has_its_tables(self.connection):
                raise self.not_whole(CHANGED)
            entries = list(ledger_store.all_entries(self.connection))
        # Word for word what was checked before: signatures take longer than all that is asked.
        if entries == self._checked:
            return entries
        verdict = follow(
            (entry.link for entry in entries), self.keys.check(), "ledger", ledger_store.SIGNER
        )
        if not verdict.whole:
            raise self.not_whole(verdict.fault)
        self._checked[:] = entries
        return entries

    def entry(self, number: int) -> ledger_store.Entry | None:
        """An entry, checked against its own signature; ``None`` where there is none."""
        with ledger_store.said_clearly(self.name):
            entry = ledger_store.one_entry(self.connection, number)
        # Its own signature is enough here: the whole chain takes as long as the ledger is.
        if entry is not None and not is_signed(entry.link, self.keys.check()):
            raise self.not_whole(f"entry {number} was changed")
        return entry

    def parts(self, number: int, names: Sequence[str]) -> list[npt.NDArray[Any]]:
        """Arrays of an entry, checked against what was signed."""
        entry = self.entry(number)
        if entry is None:
            raise self.not_whole(f"entry {number} is missing")
        with ledger_store.said_clearly(self.name):
            contents = [
                list(ledger_store.pieces_of(self.connection, number, name)) for name in names
            ]
        described, arrays = entry.details["parts"], []
        for name, pieces in zip(names, contents, strict=True):
            if not ledger_store.is_whole(pieces, described[name]):
                raise self.not_whole(f"entry {number} was changed")
            arrays.append(ledger_store.array_of(pieces, described[name]))
        return arrays

    def not_whole(self, fault: str) -> InputError:
        """The error for a ledger that somebody has changed."""
        return InputError(
            f"ledger {self.name}",
            "must be whole",
            found=fault,
            advice="see 'sfumato ledger verify', and restore it from its backup",
        )

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Append all entries of the block together, or none where it fails.

        Nobody else may append.
        """
        # Within another block this one joins it, so that all is noted together or nothing.
        begun: bool = self.connection.in_transaction
        if begun:
            yield
            return
        with ledger_store.said_clearly(self.name):
            # The lock for writing at once:
            # who reads first and locks later may find an entry in between.
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.connection.execute("COMMIT")
            finally:
                # Whatever ends the block, an interruption included, nothing half done stays.
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
        # After the commit: a head of an entry that never was would refuse the ledger for good.
        self.anchor().keep(self.head())


def check_text(actor: str) -> None:
    """Refuse a name that is no text, such as bytes of another encoding on the command line."""
    try:
        actor.encode()
    except UnicodeEncodeError:
        raise InputError(
            "the name of who asks or decides", "must be text", found="bytes of another encoding"
        ) from None


def verify_log(log: Log, against: Head | None) -> Verdict:
    """Check every entry and its arrays, the tables and the triggers.

    A ledger that was cut off, or rewritten by somebody who holds the signing key, is found only by
    a head that was kept elsewhere.
    """
    connection = log.connection
    with ledger_store.said_clearly(log.name):
        # One view of the file throughout, while other processes may append.
        connection.execute("BEGIN")
        try:
            if not ledger_store.has_its_tables(connection):
                return Verdict(0, CHANGED, Head(0, START))
            signed = log.keys.check()
            erased = {
                number
                for entry in ledger_store.all_entries(connection)
                # Only a signed entry excuses arrays that are gone.
                if is_signed(entry.link, signed)
                for number in entry.details.get(ERASED, ())
            }
            verdict = follow(
                _links(connection, signed, erased), signed, "ledger", ledger_store.SIGNER, against
            )
            if verdict.whole and _has_strays(connection):
                return replace(verdict, fault="it holds arrays of no entry")
            return verdict
        finally:
            connection.execute("ROLLBACK")


def _links(
    connection: sqlite3.Connection, signed: Callable[[bytes, bytes], bool], erased: Collection[int]
) -> Iterator[Link]:
    for entry in ledger_store.all_entries(connection):
        link, gone = entry.link, entry.number in erased
        if is_signed(link, signed) and not _has_its_parts(connection, entry, gone=gone):
            # Then what it holds is not what was signed, as if its text had been changed.
            link = replace(link, made="")
        yield link


def _has_its_parts(
    connection: sqlite3.Connection, entry: ledger_store.Entry, *, gone: bool
) -> bool:
    described = {} if gone else entry.details["parts"]
    rows = connection.execute("SELECT DISTINCT name FROM part WHERE entry = ?", [entry.number])
    return {name for (name,) in rows} == set(described) and all(
        ledger_store.is_whole(
            ledger_store.pieces_of(connection, entry.number, name), described[name]
        )
        for name in described
    )


def _has_strays(connection: sqlite3.Connection) -> bool:
    rows = connection.execute(
        "SELECT 1 FROM part WHERE entry NOT IN (SELECT number FROM entry) LIMIT 1"
    )
    return rows.fetchone() is not None
